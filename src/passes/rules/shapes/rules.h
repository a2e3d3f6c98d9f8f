// Rules about axes, sizes and places, one file each.
#pragma once

#include "rewriting/rule.h"

namespace sardonyx::passes {

using namespace rewriting;

extern const Rule kDistanceBack;
extern const Rule kExpandForTile;
extern const Rule kFlattenDenseLayers;
extern const Rule kFlattenProducts;
extern const Rule kGatherRows;
extern const Rule kIndexByRanges;
extern const Rule kIndexRowsByRanges;
extern const Rule kJoinConcats;
extern const Rule kJoinReshapes;
extern const Rule kJoinSlices;
extern const Rule kJoinTransposes;
extern const Rule kJoinTransposesRoundReshape;
extern const Rule kJoinViews;
extern const Rule kLoseAxesBeforeTransposing;
extern const Rule kMatmulForEinsum;
extern const Rule kRaiseDepthToSpace;
extern const Rule kReduceToShape;
extern const Rule kResizeByScales;
extern const Rule kSliceOnePart;
extern const Rule kSoftmaxOfAxes;
extern const Rule kSplitPackedParts;
extern const Rule kSplitSlices;
extern const Rule kTransposeBeforeSplit;
extern const Rule kTransposeInsideGemm;
extern const Rule kTransposeInsideReshapes;
extern const Rule kTransposeWithoutNewAxes;
extern const Rule kUnflattenGemm;

}  // namespace sardonyx::passes
