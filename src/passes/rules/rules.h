// The rules of the pipeline, one file each.
#pragma once

#include "passes/rule.h"

namespace sardonyx::passes {

extern const Rule kDropIdentity;
extern const Rule kFoldBatchNorm;
extern const Rule kFoldChannelAffine;
extern const Rule kFoldConstants;
extern const Rule kFoldPad;
extern const Rule kFoldWeights;
extern const Rule kIndexByRanges;
extern const Rule kRaiseRmsNormalization;
extern const Rule kReshapeWeights;
extern const Rule kSplitSlices;
extern const Rule kTransposeWeights;
extern const Rule kUnflattenGemm;

}  // namespace sardonyx::passes
