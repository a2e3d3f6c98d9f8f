// Rules about lists of tensors, one file each.
#pragma once

#include "rewriting/rule.h"

namespace sardonyx::passes {

using namespace rewriting;

extern const Rule kTakeFromList;
extern const Rule kTakeFromSplit;

}  // namespace sardonyx::passes
