// Rules that raise normalisations, one file each.
#pragma once

#include "rewriting/rule.h"

namespace sardonyx::passes {

using namespace rewriting;

extern const Rule kRaiseRmsNormalization;

}  // namespace sardonyx::passes
