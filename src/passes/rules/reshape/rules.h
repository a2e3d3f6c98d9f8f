// Rules about reshapes, transposes and axes, one file each.
#pragma once

#include "rewriting/rule.h"

namespace sardonyx::passes {

using namespace rewriting;

extern const Rule kDropUnitAxesAroundTranspose;
extern const Rule kExpandForTile;
extern const Rule kMergeReshapes;
extern const Rule kMergeTransposes;
extern const Rule kMergeTransposesAcrossReshape;
extern const Rule kMergeViews;
extern const Rule kRaiseDepthToSpace;
extern const Rule kReduceBeforeTranspose;
extern const Rule kReduceToShape;
extern const Rule kResizeByScales;
extern const Rule kSoftmaxOfAxes;
extern const Rule kTransposeInsideReshapes;

}  // namespace sardonyx::passes
