// Rules about slices, gathers, splits and concatenations, one file each.
#pragma once

#include "rewriting/rule.h"

namespace sardonyx::passes {

using namespace rewriting;

extern const Rule kGatherNdToSlice;
extern const Rule kGatherRows;
extern const Rule kGatherRowsToSlice;
extern const Rule kMergeConcats;
extern const Rule kMergeSlices;
extern const Rule kNegatedMinToMax;
extern const Rule kScatterIntoShape;
extern const Rule kSliceOfConcat;
extern const Rule kSlicesToSplit;
extern const Rule kSplitPackedParts;
extern const Rule kTransposeBeforeSplit;

}  // namespace sardonyx::passes
