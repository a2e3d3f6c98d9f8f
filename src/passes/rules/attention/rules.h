// Rules about attention, one file each.
#pragma once

#include "rewriting/rule.h"

namespace sardonyx::passes {

using namespace rewriting;

extern const Rule kDropOpenMask;
extern const Rule kGiveAttentionItsCache;
extern const Rule kHalveRotaryTables;
extern const Rule kJoinAttentionHeads;
extern const Rule kPartAttentionHeads;
extern const Rule kPartHeadsFromBatches;
extern const Rule kRaiseAttention;
extern const Rule kRaiseAttentionWithSinks;
extern const Rule kRaiseBooleanMask;
extern const Rule kRaiseRotaryEmbedding;
extern const Rule kRotateInPart;
extern const Rule kRotateJoinedHeads;
extern const Rule kShareAttentionHeads;

}  // namespace sardonyx::passes
