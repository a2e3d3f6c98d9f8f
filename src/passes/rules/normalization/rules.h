// Rules that raise normalizations, one file each.
#pragma once

#include "rewriting/rule.h"

namespace sardonyx::passes {

using namespace rewriting;

extern const Rule kRaiseGroupNormalization;
extern const Rule kRaiseLayerNormalization;
extern const Rule kRaiseRmsNormalization;
extern const Rule kAffineGroupNormalization;
extern const Rule kAffineInstanceNormalization;
extern const Rule kNormalizeInHalf;
extern const Rule kScaleChannels;
extern const Rule kScaleNormalization;
extern const Rule kShiftNormalization;

}  // namespace sardonyx::passes
