// Which nodes of a file are constants, and which constants are weights.
#pragma once

#include <optional>

#include "onnx/graph/ir.h"

namespace sardonyx::proto {

// The data of a node Constant; nothing for other nodes, and for sparse or absent data.
std::optional<onnx::Tensor> constant_of(const onnx::Node& node);

// Whether an initializer of a file is what a model has learnt, rather than a number that its code
// is written with: sizes, axes, a factor. Rules compute with the latter beforehand.
bool is_weight(const onnx::Tensor& tensor);

}  // namespace sardonyx::proto
