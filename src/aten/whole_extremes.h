// Extremes of integers of 64 bits. ONNX Runtime 1.31's Max, Min, Clip, ReduceMax, ReduceMin and
// Sign look at 32 bits of them on some processors: the largest of 0 and 2^31 is 0. Its comparisons,
// Where and TopK see all 64.
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

}  // namespace sardonyx::aten
