// Rules that drop what does nothing, and say simply what is said otherwise, one file each.
#pragma once

#include "rewriting/rule.h"

namespace sardonyx::passes {

using namespace rewriting;

extern const Rule kClipBeforeCast;
extern const Rule kFoldConstantWhere;
extern const Rule kWhereOfNot;
extern const Rule kDropIdentity;
extern const Rule kNeutralElement;
extern const Rule kIdempotent;
extern const Rule kMergeScaleFactors;
extern const Rule kDecomposeCastLike;
extern const Rule kDecomposeNegation;

}  // namespace sardonyx::passes
