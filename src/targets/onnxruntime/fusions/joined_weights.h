// Weights side by side in one.
#pragma once

#include <optional>
#include <span>

#include "onnx/graph/tensor.h"

namespace sardonyx::targets {

// Tensors of one type that differ in the last axis, joined there; nothing where their data is to be
// supplied later, or is computed of what lies there. The result has memory of its own.
std::optional<onnx::Tensor> joined(std::span<const onnx::Tensor* const> tensors);

}  // namespace sardonyx::targets
