// Before: t = Transpose<perm=[1, 0]>(weight); y = MatMul(x, t)
// After:  y = MatMul(x, weight), the weight's axes swapped
// No byte moves: the tensor gets other strides, and is turned while it is written. A weight that
// something else reads stays as it is, or it would be there twice.
#include <algorithm>
#include <memory>
#include <unordered_map>
#include <utility>

#include "passes/rewrite.h"
#include "passes/rules.h"

namespace sardonyx::passes {
namespace {

using Axes = std::vector<std::int64_t>;
using onnx::Node;
using onnx::Tensor;
using onnx::ValueInfo;

// How many initializers lie at an address: tied weights stay one.
using Sharing = std::unordered_map<const std::byte*, int>;

Sharing sharing_of(const onnx::Model& model) {
  Sharing sharing;
  for (const ValueInfo* value : model.initializers) {
    const Tensor* tensor = value->constant.get();
    if (tensor != nullptr && tensor->data != nullptr && onnx::has_uses(value))
      ++sharing[tensor->data];
  }
  return sharing;
}

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
           return use.node->is("Transpose") && use.node->output() != nullptr &&
                  use.node->output()->returns.empty() &&
                  permutation_of(use.node, weight->shape.size()) == axes;
         });
}

void turn(ValueInfo* weight, const Axes& axes) {
  weight->constant = std::make_shared<const Tensor>(turned(*weight->constant, axes));
  weight->shape = reordered(weight->shape, axes);
  weight->weight_axes = weight->weight_axes.empty() ? axes : reordered(weight->weight_axes, axes);
  weight->contents.clear();
}

bool transpose_weight(Node* node, const Sharing& sharing) {
  if (!node->is("Transpose") || node->output() == nullptr) return false;
  ValueInfo* weight = node->input(0);
  if (weight == nullptr || weight->constant == nullptr || !weight->weight_dims.empty())
    return false;
  const Tensor& tensor = *weight->constant;
  if (base::bit_width(tensor.dtype) < 8 || tensor.dims.size() < 2 || !tensor.as_it_lies())
    return false;
  if (const auto found = sharing.find(tensor.data); found != sharing.end() && found->second > 1)
    return false;
  const Axes axes = permutation_of(node, tensor.dims.size());
  if (axes.empty() || !only_transposed(weight, axes)) return false;
  turn(weight, axes);
  const std::vector<onnx::Use> uses = weight->uses;
  for (const onnx::Use& use : uses) onnx::replace_all_uses(use.node->output(), weight);
  return true;  // the Transposes are unused now
}

}  // namespace

bool transpose_weights(onnx::Model& model) {
  const Sharing sharing = sharing_of(model);
  const bool changed =
      each_node(model.graph, [&](Node* node) { return transpose_weight(node, sharing); });
  if (changed) drop_unused_nodes(model);
  return changed;
}

}  // namespace sardonyx::passes
