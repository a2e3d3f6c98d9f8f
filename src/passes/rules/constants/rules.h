// Rules that compute once what is constant, one file each.
#pragma once

#include "rewriting/rule.h"

namespace sardonyx::passes {

using namespace rewriting;

extern const Rule kFoldConstants;

}  // namespace sardonyx::passes
