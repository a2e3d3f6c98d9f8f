// A loop whose count, or whose condition, only a run tells.
#pragma once

#include <optional>

#include "frontends/torchscript/follower.h"

namespace sardonyx::torchscript {

// The loop as one call. `count` is how often it runs at most, where it counts; `condition` whether
// it runs at all.
void run_on_data(Follower& follower, const Statement& statement, std::optional<Datum> count,
                 const Datum& condition);

}  // namespace sardonyx::torchscript
