// The data of an attribute as a tensor.
#pragma once

#include <optional>

#include "onnx/graph/ir.h"

namespace sardonyx::onnx {

// What a Constant with this attribute holds; nothing for graphs, types and sparse tensors.
std::optional<Tensor> tensor_of(const Attribute::Data& data);

}  // namespace sardonyx::onnx
