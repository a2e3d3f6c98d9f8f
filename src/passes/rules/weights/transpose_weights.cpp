// Before: t = Transpose<perm=[1, 0]>(weight); y = MatMul(x, t)
// After:  y = MatMul(x, weight), the weight's axes swapped
// No byte moves: the tensor gets other strides, and is turned while it is written. A weight that
// something else reads stays as it is, or it would be there twice; small ones of other people's
// models may be.
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

// As a weight of its own beside the one that others read.
bool copy_turned(Node* node, const Axes& axes, RuleContext& context) {
  ValueInfo* const weight = node->input(0);
  Patch patch(context, node);
  patch.fold_in(weight);
  patch.replace(node->output(),
                patch.weight(weight->name + "_turned", onnx::permuted(*weight->constant, axes)));
  return patch.apply();
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
  const bool is_shared = context.shares_storage(weight), is_own = only_transposed(weight, axes);
  const bool may_copy = context.is_foreign() && node->output()->returns.empty() &&
                        tensor.element_count() <= kSmallWeight;
  if ((is_shared || !is_own) && may_copy) return copy_turned(node, axes, context);
  if (is_shared) return context.decline(node, "another weight lies over the same bytes");
  if (!is_own) return context.decline(node, "something else reads the weight");
  const std::vector<onnx::Use> uses = weight->uses;
  Patch patch(context, node);
  patch.set_data(weight, onnx::permuted(tensor, axes));
  for (const onnx::Use& use : uses) patch.replace(use.node->output(), weight);
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kTranspose};

}  // namespace

const Rule kTransposeWeights = {"transpose-weights", kRoots, transpose_weight, 1,
                                /*changes_weights=*/true};

}  // namespace sardonyx::passes
