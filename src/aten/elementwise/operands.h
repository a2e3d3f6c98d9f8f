// Operands that may be tensors or numbers, and small conditions on elements, for the elementwise
// families.
#pragma once

#include <string_view>

#include "aten/call.h"
#include "onnx/emit/elementary.h"

namespace sardonyx::aten {

// The argument, tensor or number, in this type.
Value operand(const Call& call, Emit& onnx, std::string_view name, DType dtype);

// `self` and `other`, each a tensor or a number, in the result's type.
Pair operands(const Call& call, Emit& onnx);

// The type in which to compute a formula of several steps: float32 for the half types, so that
// steps do not round one by one as PyTorch's single kernel does not.
DType computing_type(DType dtype);

// The sign of a number: of zeros too. A NaN counts as positive.
Value has_sign(Emit& onnx, Value x);

// The magnitude, negated where the other number is negative: zeros and infinities too.
Value with_sign_of(Emit& onnx, Value magnitude, Value like);

// Rounded towards zero.
Value truncated(Emit& onnx, Value x);

using onnx::exp_minus_one;
using onnx::log_one_plus;

// The angle of the point (x, y), as atan2 has it: signs of zeros count, infinities too.
Value angle_of(Emit& onnx, Value y, Value x);

// sqrt(a^2 + b^2) without overflow; infinite when a side is, even beside a NaN.
Value hypotenuse(Emit& onnx, Value a, Value b);

}  // namespace sardonyx::aten
