// Convolutions of any type and number of groups.
#pragma once

#include "aten/call.h"
#include "onnx/definitions/exact_convolution.h"

namespace sardonyx::aten {

using onnx::ConvolutionWindow;

// x [N, C, sizes...], weight [M, C / groups, kernel...] (transposed: [C, M / groups, kernel...]),
// bias [M] or absent: by ONNX's operators, or as products where these do not take the type or a
// number of groups that is not known.
Value convolved(Emit& onnx, Value x, Value weight, Value bias, const ConvolutionWindow& window,
                bool transposed);

}  // namespace sardonyx::aten
