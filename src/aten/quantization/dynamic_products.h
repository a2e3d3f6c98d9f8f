// Products with weights of 8 bits, of x that is quantized by what it holds.
#pragma once

#include "aten/call.h"

namespace sardonyx::aten {

// A quantized weight [outputs, inputs], int8: (weight - zero_point) * scale. Scale and zero point
// are 0-d, or [outputs]; the bias, float32, may be absent.
struct QuantizedWeight {
  Value weight, scale, zero_point, bias;
};

// x weight^T + bias of x [..., inputs], float32, as PyTorch's kernels compute it: x is rounded to
// steps of which 255 cover it and 0, or 127 with `reduce_range`, and multiplied in integers.
Value dynamic_product(Emit& onnx, Value x, const QuantizedWeight& packed, bool reduce_range);

}  // namespace sardonyx::aten
