// Rules that raise activations, one file each.
#pragma once

#include "rewriting/rule.h"

namespace sardonyx::passes {

using namespace rewriting;

extern const Rule kMergeClips;
extern const Rule kRaiseClip;
extern const Rule kRaiseGelu;
extern const Rule kRaiseHardSigmoid;
extern const Rule kRaiseHardSwish;
extern const Rule kRaiseLogSoftmax;
extern const Rule kRaiseMish;
extern const Rule kRaiseRelu;
extern const Rule kRaiseSigmoid;
extern const Rule kRaiseSoftmax;
extern const Rule kRaiseSoftplus;
extern const Rule kRaiseSwiglu;
extern const Rule kRaiseSwish;
extern const Rule kSoftmaxWithoutMaximum;

}  // namespace sardonyx::passes
