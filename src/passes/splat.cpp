#include "passes/splat.h"

#include <memory>
#include <variant>

#include "onnx/gen/op.h"
#include "onnx/graph/tensor.h"
#include "rewriting/pattern.h"

namespace sardonyx::passes {

using onnx::Node;
using onnx::Op;
using onnx::Tensor;

std::shared_ptr<const Tensor> filling_of(const Node* constant_of_shape) {
  const onnx::Attribute* value = constant_of_shape->find("value");
  if (value == nullptr)
    return std::make_shared<const Tensor>(Tensor::filled(onnx::DType::kFloat32, {}, 0));
  const auto* tensor = std::get_if<std::shared_ptr<const Tensor>>(&value->data);
  return tensor != nullptr && value->reference.empty() ? *tensor : nullptr;
}

std::optional<double> splat_value(const onnx::ValueInfo* value) {
  if (value == nullptr || value->is_disputed) return std::nullopt;
  const Node* node = value->producer;
  if (node == nullptr || !node->domain.empty()) return rewriting::number_of(value);
  if (node->is(Op::kExpand)) return splat_value(node->input(0));
  if (!node->is(Op::kConstantOfShape)) return std::nullopt;
  const auto element = filling_of(node);
  if (element == nullptr || element->element_count() != 1) return std::nullopt;
  const auto reals = element->reals();
  return reals ? std::optional(reals->front()) : std::nullopt;
}

}  // namespace sardonyx::passes
