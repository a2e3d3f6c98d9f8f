// Integers of 64 bits, of which some kernels of ONNX Runtime 1.31 see fewer. Max, Min, Clip,
// ReduceMax, ReduceMin and Sign look at 32 bits on some processors: the largest of 0 and 2^31 is 0.
// ReduceSum and ReduceProd go through double: 2^53 + 1 is 2^53. Comparisons, Where, TopK, MatMul
// and what works element by element see all 64.
#pragma once

#include <cstdint>
#include <vector>

#include "aten/call.h"

namespace sardonyx::aten {

// Element by element, of any type: NaN where either is, as ONNX Runtime's Max and Min have it.
Value larger_of(Emit& onnx, Value a, Value b);
Value smaller_of(Emit& onnx, Value a, Value b);

// Over axes (not negative, at least one) of an int64 tensor.
Value whole_extreme(Emit& onnx, Value x, const std::vector<std::int64_t>& axes, bool keep_dims,
                    bool largest);

// The sum of a tensor of any type over axes (the same ones); `summed` is what it was before it
// became int64, which may bound the sum.
Value whole_sum(Emit& onnx, Value x, DType summed, const std::vector<std::int64_t>& axes,
                bool keep_dims);

}  // namespace sardonyx::aten
