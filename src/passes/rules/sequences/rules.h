// Rules about lists of tensors, one file each.
#pragma once

#include "rewriting/rule.h"

namespace sardonyx::passes {

using namespace rewriting;

extern const Rule kSequenceAtOfList;
extern const Rule kSequenceAtOfSplit;

}  // namespace sardonyx::passes
