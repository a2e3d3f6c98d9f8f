// Rules about quantized tensors, one file each.
#pragma once

#include "rewriting/rule.h"

namespace sardonyx::passes {

using namespace rewriting;

extern const Rule kDropRequantization;
extern const Rule kGatherBeforeDequantize;

}  // namespace sardonyx::passes
