// Tensors whose elements are one number.
#pragma once

#include <optional>

#include "onnx/graph/ir.h"

namespace sardonyx::passes {

// The number that all elements are: of a constant of one, or of what Expand and ConstantOfShape
// make of one; nothing where they are not seen to be.
std::optional<double> filled_with(const onnx::ValueInfo* value);

}  // namespace sardonyx::passes
