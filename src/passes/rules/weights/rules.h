// Rules that work weights into others, one file each.
#pragma once

#include "rewriting/rule.h"

namespace sardonyx::passes {

using namespace rewriting;

extern const Rule kFoldBatchNorm;
extern const Rule kFoldChannelAffine;
extern const Rule kFoldWeights;
extern const Rule kReshapeWeights;
extern const Rule kScaleProducts;
extern const Rule kTransposeWeights;

}  // namespace sardonyx::passes
