// Rules about attention, one file each.
#pragma once

#include "rewriting/rule.h"

namespace sardonyx::passes {

using namespace rewriting;

extern const Rule kJoinAttentionHeads;

}  // namespace sardonyx::passes
