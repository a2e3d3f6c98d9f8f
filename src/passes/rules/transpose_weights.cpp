// Before: t = Transpose<perm=[1, 0]>(weight); y = MatMul(x, t)
// After:  y = MatMul(x, weight), the weight's axes swapped
// No byte moves: the tensor gets other strides, and is turned while it is written. A weight that
// something else reads stays as it is, or it would be there twice.
#include <algorithm>
#include <memory>
#include <utility>

#include "passes/patch.h"
#include "passes/rules/rules.h"

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

template <class List>
List reordered(const List& list, const Axes& axes) {
  List result = list;
  for (std::size_t i = 0; i < axes.size(); ++i) result[i] = list[static_cast<std::size_t>(axes[i])];
  return result;
}

Tensor turned(const Tensor& tensor, const Axes& axes) {
  Tensor result = tensor;
  if (result.strides.empty()) {
    result.strides.assign(axes.size(), 1);
    for (std::size_t i = axes.size() - 1; i-- > 0;)
      result.strides[i] = result.strides[i + 1] * result.dims[i + 1];
  }
  result.dims = reordered(result.dims, axes);
  result.strides = reordered(result.strides, axes);
  return result;
}

// Every reader of the weight is this same Transpose.
bool only_transposed(const ValueInfo* weight, const Axes& axes) {
  return weight->returns.empty() && std::ranges::all_of(weight->uses, [&](const onnx::Use& use) {
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
  if (!weight->weight_dims.empty() || !tensor.as_it_lies())
    return context.decline(node, "the weight was changed in another way");
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
  patch.set_data(weight, turned(tensor, axes));
  for (const onnx::Use& use : uses) patch.replace(use.node->output(), weight);
  if (!patch.apply()) return false;
  weight->weight_axes = weight->weight_axes.empty() ? axes : reordered(weight->weight_axes, axes);
  return true;
}

constexpr Op kRoots[] = {Op::kTranspose};

}  // namespace

const Rule kTransposeWeights = {"transpose-weights", kRoots, transpose_weight, 1,
                                /*changes_weights=*/true};

}  // namespace sardonyx::passes
