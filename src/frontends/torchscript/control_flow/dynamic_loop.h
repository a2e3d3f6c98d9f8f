// A loop with a data-dependent count or condition.
#pragma once

#include <optional>

#include "frontends/torchscript/interpreter/abstract_interpreter.h"

namespace sardonyx::torchscript {

// The loop as one call. `count` is how often it runs at most, where it counts; `condition` whether
// it runs at all.
void run_on_data(AbstractInterpreter& interpreter, const Statement& statement,
                 std::optional<AbstractValue> count, const AbstractValue& condition);

}  // namespace sardonyx::torchscript
