// Rules about what is put round tensors, one file each.
#pragma once

#include "rewriting/rule.h"

namespace sardonyx::passes {

using namespace rewriting;

extern const Rule kFoldPad;
extern const Rule kMergePads;
extern const Rule kPoolPadded;

}  // namespace sardonyx::passes
