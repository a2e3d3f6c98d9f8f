// Running combinations along an axis by doubling: after step k each element has taken in the
// 2^(k+1) - 1 before it.
#pragma once

#include <cstdint>
#include <functional>

#include "onnx/emit/emit.h"

namespace sardonyx::onnx {

// Combines what stands earlier with what stands later; associative. Both hold a state of the same
// number of tensors.
using Combine = std::function<Values(const Values& earlier, const Values& later)>;

// The states (tensors of one shape) after every element of the axis.
Values prefix_scan(Emit& onnx, const Values& states, std::int64_t axis, const Combine& combine);

// The state after the last element of the axis, which stays with size 1; `neutral` (0-d) where the
// axis is empty.
Value last_of_scan(Emit& onnx, Value x, std::int64_t axis, const Combine& combine, Value neutral);

}  // namespace sardonyx::onnx
