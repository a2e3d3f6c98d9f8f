// Before: v = Unsqueeze(weight, [1, 2]); y = Mul(x, v)
// After:  y = Mul(x, weight), the weight with the dims of v
// So, too, Squeeze and Reshape that only put in or take out dims of 1. No byte moves. A weight that
// something else reads stays as it is, or it would be there twice.
#include <memory>
#include <optional>
#include <vector>

#include "onnx/graph/recipe.h"
#include "passes/rules/weights/rules.h"
#include "rewriting/patch.h"

namespace sardonyx::passes {
namespace {

using Dims = std::vector<std::int64_t>;
using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

bool reshapes(const Node* node) {
  return node->is(Op::kUnsqueeze) || node->is(Op::kSqueeze) || node->is(Op::kReshape);
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

bool reshape_weight(Node* node, RuleContext& context) {
  ValueInfo* const weight = node->input(0);
  if (node->output() == nullptr || weight == nullptr || !weight->is_weight ||
      weight->constant == nullptr || weight->is_pinned || weight->producer != nullptr)
    return false;
  const auto dims = constant_dims(node->output());
  const auto reshaped = dims ? onnx::with_dims(*weight->constant, *dims) : std::nullopt;
  if (!reshaped) return false;
  const std::vector<onnx::Use> uses = weight->uses;
  for (const onnx::Use& use : uses) {
    if (use.index != 0 || !reshapes(use.node) || !use.node->output()->returns.empty() ||
        constant_dims(use.node->output()) != dims)
      return context.decline(node, "something else reads the weight");
  }
  if (!weight->returns.empty()) return context.decline(node, "the weight is an output of a graph");
  Patch patch(context, node);
  patch.set_data(weight, *reshaped);
  for (const onnx::Use& use : uses) patch.replace(use.node->output(), weight);
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kUnsqueeze, Op::kSqueeze, Op::kReshape};

}  // namespace

const Rule kReshapeWeights = {"reshape-weights", kRoots, reshape_weight, 1,
                              /*changes_weights=*/true};

}  // namespace sardonyx::passes
