// Rules about attention, one file each.
#pragma once

#include "rewriting/rule.h"

namespace sardonyx::passes {

using namespace rewriting;

extern const Rule kEliminateAllTrueMask;
extern const Rule kFuseKvCache;
extern const Rule kHalveRotaryTables;
extern const Rule kMergeAttentionHeads;
extern const Rule kSplitAttentionHeads;
extern const Rule kSplitHeadsFromBatches;
extern const Rule kRaiseAttention;
extern const Rule kRaiseAttentionWithSinks;
extern const Rule kRaiseBooleanMask;
extern const Rule kRaiseRotaryEmbedding;
extern const Rule kRotateInPart;
extern const Rule kRotateMergedHeads;
extern const Rule kShareAttentionHeads;

}  // namespace sardonyx::passes
