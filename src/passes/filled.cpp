#include "passes/filled.h"

#include <memory>
#include <variant>

#include "onnx/gen/op.h"
#include "onnx/graph/tensor.h"
#include "rewriting/pattern.h"

namespace sardonyx::passes {

using onnx::Node;
using onnx::Op;
using onnx::Tensor;

std::optional<double> filled_with(const onnx::ValueInfo* value) {
  if (value == nullptr || value->is_disputed) return std::nullopt;
  const Node* node = value->producer;
  if (node == nullptr || !node->domain.empty()) return rewriting::number_of(value);
  if (node->is(Op::kExpand)) return filled_with(node->input(0));
  if (!node->is(Op::kConstantOfShape)) return std::nullopt;
  const onnx::Attribute* attribute = node->find("value");
  if (attribute == nullptr) return 0;
  const auto* element = std::get_if<std::shared_ptr<const Tensor>>(&attribute->data);
  if (element == nullptr || *element == nullptr || !attribute->reference.empty() ||
      (*element)->element_count() != 1)
    return std::nullopt;
  const auto reals = (*element)->reals();
  return reals ? std::optional(reals->front()) : std::nullopt;
}

}  // namespace sardonyx::passes
