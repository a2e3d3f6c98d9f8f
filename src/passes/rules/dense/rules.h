// Rules about MatMul and Gemm, one file each.
#pragma once

#include "rewriting/rule.h"

namespace sardonyx::passes {

using namespace rewriting;

extern const Rule kFlattenDenseLayers;
extern const Rule kFlattenProducts;
extern const Rule kMatmulForEinsum;
extern const Rule kTransposeInsideGemm;
extern const Rule kUnflattenGemm;

}  // namespace sardonyx::passes
