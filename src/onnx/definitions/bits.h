// Operators on the bits of integers, by arithmetic. Opset 18.
#pragma once

#include "onnx/definitions/definitions.h"
#include "onnx/gen/op.h"

namespace sardonyx::onnx {

// BitwiseAnd, BitwiseOr and BitwiseXor.
std::optional<Values> bitwise_by_digits(const Composite& call, Op op);

Value bitwise_not_by_difference(const Composite& call);

}  // namespace sardonyx::onnx
