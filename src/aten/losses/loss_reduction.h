// What losses of elements have in common: their argument `reduction`.
#pragma once

#include "aten/call.h"

namespace sardonyx::aten {

// The losses themselves, their mean or their sum over all axes, as `reduction` says (0, 1, 2), in
// the result's type.
Outputs reduced_loss(const Call& call, Emit& onnx, Value losses);

}  // namespace sardonyx::aten
