// Running combinations along an axis by doubling: after step k each element has taken in the
// 2^(k+1) - 1 before it.
#pragma once

#include <functional>

#include "aten/call.h"

namespace sardonyx::aten {

// Combines what stands earlier with what stands later; associative. Both hold a state of the same
// number of tensors.
using Combine = std::function<onnx::Values(const onnx::Values& earlier, const onnx::Values& later)>;

// The states (tensors of one shape) after every element of the axis.
onnx::Values prefix_scan(Emit& onnx, const onnx::Values& states, std::int64_t axis,
                         const Combine& combine);

}  // namespace sardonyx::aten
