// Before: t = Transpose<perm=[1, 0]>(weight); y = MatMul(x, t)
// After:  y = MatMul(x, weight), the weight's axes swapped
// No byte moves: the tensor gets other strides, and is turned while it is written. A weight that
// something else reads stays as it is, or it would be there twice.
#include <algorithm>
#include <memory>
#include <utility>

#include "onnx/graph/recipe.h"
#include "passes/rules/weights/rules.h"
#include "rewriting/patch.h"

namespace sardonyx::passes {
namespace {

using Axes = std::vector<std::int64_t>;
using onnx::Node;
using onnx::Op;
using onnx::Tensor;
using onnx::ValueInfo;

// The axes that a Transpose puts in order; empty when they are no permutation of the weight's.
Axes permutation_of(const Node* node, std::size_t rank) {
  Axes axes;
  if (const auto* given = node->ints("perm")) {
    axes = *given;
  } else {
    for (std::size_t i = rank; i-- > 0;) axes.push_back(static_cast<std::int64_t>(i));
  }
  if (axes.size() != rank) return {};
  for (std::size_t i = 0; i < rank; ++i)
    if (std::ranges::find(axes, static_cast<std::int64_t>(i)) == axes.end()) return {};
  return axes;
}

// Every reader of the weight is this same Transpose.
bool only_transposed(const ValueInfo* weight, const Axes& axes) {
  return weight->returns.empty() && !weight->is_pinned &&
         std::ranges::all_of(weight->uses, [&](const onnx::Use& use) {
           return use.node->is(Op::kTranspose) && use.node->output() != nullptr &&
                  use.node->output()->returns.empty() &&
                  permutation_of(use.node, weight->shape.size()) == axes;
         });
}

bool transpose_weight(Node* node, RuleContext& context) {
  ValueInfo* weight = node->input(0);
  if (node->output() == nullptr || weight == nullptr || weight->constant == nullptr ||
      weight->producer != nullptr)
    return false;
  const Tensor& tensor = *weight->constant;
  if (base::bit_width(tensor.dtype) < 8)
    return context.decline(node, "several elements of the weight share a byte");
  if (tensor.dims.size() < 2) return false;
  const Axes axes = permutation_of(node, tensor.dims.size());
  if (axes.empty()) return false;
  if (context.shares_storage(weight))
    return context.decline(node, "another weight lies over the same bytes");
  if (!only_transposed(weight, axes))
    return context.decline(node, "something else reads the weight");
  const std::vector<onnx::Use> uses = weight->uses;
  Patch patch(context, node);
  patch.set_data(weight, onnx::turned(tensor, axes));
  for (const onnx::Use& use : uses) patch.replace(use.node->output(), weight);
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kTranspose};

}  // namespace

const Rule kTransposeWeights = {"transpose-weights", kRoots, transpose_weight, 1,
                                /*changes_weights=*/true};

}  // namespace sardonyx::passes
