// Before: v = Unsqueeze(weight, [1, 2]); y = Mul(x, v)
// After:  y = Mul(x, weight), the weight with the dims of v
// So, too, Squeeze and Reshape that only put in or take out dims of 1. No byte moves. A weight that
// something else reads stays as it is, or it would be there twice.
#include <memory>
#include <optional>
#include <vector>

#include "passes/rewrite.h"
#include "passes/rules.h"

namespace sardonyx::passes {
namespace {

using Dims = std::vector<std::int64_t>;
using onnx::Node;
using onnx::ValueInfo;

bool reshapes(const Node* node) {
  return node->is("Unsqueeze") || node->is("Squeeze") || node->is("Reshape");
}

std::optional<Dims> constant_dims(const ValueInfo* value) {
  if (value == nullptr || !value->has_rank) return std::nullopt;
  Dims dims;
  for (const symbolic::Expr dim : value->shape) {
    if (!dim.known() || !dim.is_constant()) return std::nullopt;
    dims.push_back(dim.value());
  }
  return dims;
}

bool reshape_weight(Node* node) {
  if (!reshapes(node) || node->output() == nullptr) return false;
  ValueInfo* const weight = node->input(0);
  if (weight == nullptr || !weight->is_weight || weight->constant == nullptr ||
      !weight->constant->as_it_lies() || !weight->weight_axes.empty() ||
      !weight->weight_dims.empty() || !weight->returns.empty())
    return false;
  const auto dims = constant_dims(node->output());
  const auto reshaped = dims ? onnx::with_dims(*weight->constant, *dims) : std::nullopt;
  if (!reshaped) return false;
  const std::vector<onnx::Use> uses = weight->uses;
  for (const onnx::Use& use : uses) {
    if (use.index != 0 || !reshapes(use.node) || !use.node->output()->returns.empty() ||
        constant_dims(use.node->output()) != dims)
      return false;
  }
  weight->weight_dims = weight->constant->dims;
  weight->constant = std::make_shared<const onnx::Tensor>(*reshaped);
  weight->shape = node->output()->shape;
  weight->contents.clear();
  for (const onnx::Use& use : uses) onnx::replace_all_uses(use.node->output(), weight);
  return true;  // the nodes are unused now
}

}  // namespace

bool reshape_weights(onnx::Model& model) {
  const bool changed = each_node(model.graph, reshape_weight);
  if (changed) drop_unused_nodes(model);
  return changed;
}

}  // namespace sardonyx::passes
