// Before: y = MatMul(Transpose<perm = [1, 0, 2]>(x), weight), in float16
// After:  y = Squeeze(MatMul(Unsqueeze(Transpose<perm = [1, 0, 2]>(x), [0]), weight), [0])
// ONNX Runtime fuses the Transpose of a batch into the product, and its CPU provider, which has no
// such product in float16, then crashes while it loads the model.
#include <vector>

#include "passes/corrections.h"
#include "passes/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::ValueInfo;

// The first axis goes behind the other ones of the batch, or to the end.
bool turns_batch(const Node* transpose) {
  const std::vector<std::int64_t>* order = transpose->ints("perm");
  if (order == nullptr || order->size() < 3) return false;
  const std::size_t batch = order->size() - 2;
  for (std::size_t i = 0; i < batch; ++i) {
    if ((*order)[i] != static_cast<std::int64_t>(i) + 1) return false;
  }
  return true;
}

bool part(Node* product) {
  if (!product->is("MatMul") || product->input(0)->dtype != base::DType::kFloat16) return false;
  ValueInfo *const rows = product->input(0), *const weight = product->input(1);
  const Node* transpose = made_by(rows, "Transpose");
  if (transpose == nullptr || weight->constant == nullptr || !turns_batch(transpose)) return false;
  ValueInfo* const y = product->output();
  ValueInfo* const front =
      product->graph->model->add_constant(onnx::Tensor::of_ints(std::vector<std::int64_t>{0}, {1}));
  Node* const apart = insert_node(product, "Unsqueeze", {rows, front}, {}, rows->name + "_apart");
  Node* const same =
      insert_node(product, "MatMul", {apart->output(), weight}, {}, y->name + "_apart");
  Node* const result =
      insert_node(product, "Squeeze", {same->output(), front}, {}, y->name + "_together");
  return replace(y, result->output());
}

}  // namespace

bool part_transposes(onnx::Model& model) {
  // Unsqueeze takes the axes as an input since opset 13.
  if (opset_of(model) < 13) return false;
  return each_node(model.graph, part);
}

}  // namespace sardonyx::passes
