// Rules that work weights into others, one file each.
#pragma once

#include <cstdint>

#include "rewriting/rule.h"

namespace sardonyx::passes {

using namespace rewriting;

// Weights of so many elements may be there twice: that costs nothing.
inline constexpr std::int64_t kSmallWeight = 4096;

extern const Rule kFoldBatchNorm;
extern const Rule kFoldChannelAffine;
extern const Rule kFoldWeights;
extern const Rule kReshapeWeights;
extern const Rule kScaleProducts;
extern const Rule kTransposeWeights;

}  // namespace sardonyx::passes
