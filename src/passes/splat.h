// Tensors whose elements are one number.
#pragma once

#include <memory>
#include <optional>

#include "onnx/graph/ir.h"

namespace sardonyx::passes {

// The element that a ConstantOfShape repeats; null where its attribute is none, or is a function's.
std::shared_ptr<const onnx::Tensor> filling_of(const onnx::Node* constant_of_shape);

// The number that all elements are: of a constant of one, or of what Expand and ConstantOfShape
// make of one; nothing where they are not seen to be.
std::optional<double> splat_value(const onnx::ValueInfo* value);

}  // namespace sardonyx::passes
