#include "passes/rules/dense/dense_layers.h"

#include <cstddef>

#include "onnx/gen/op.h"
#include "onnx/graph/tensor.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

bool is_weight(const ValueInfo* value, std::size_t rank) {
  return value != nullptr && value->constant != nullptr && value->producer == nullptr &&
         value->constant->dims.size() == rank;
}

}  // namespace

Node* only_reader(const Node* node) {
  if (node->output() == nullptr || !rewriting::used_once(node->output())) return nullptr;
  Node* const reader = node->output()->uses.front().node;
  return reader->graph == node->graph && reader->domain.empty() ? reader : nullptr;
}

Dense dense_of(Node* product) {
  Dense found;
  if (product == nullptr || !product->is(Op::kMatMul) || !is_weight(product->input(1), 2))
    return found;
  Node* const sum = only_reader(product);
  if (sum == nullptr || !(sum->is(Op::kAdd) || sum->is(Op::kSum)) || sum->inputs.size() > 3)
    return found;
  found = {product, nullptr, product->input(1), nullptr, nullptr};
  for (ValueInfo* const each : sum->inputs) {
    if (each == product->output()) continue;
    if (found.bias == nullptr && is_weight(each, 1) &&
        each->constant->dims[0] == found.weight->constant->dims[1])
      found.bias = each;
    else
      found.added = each;
  }
  const bool is_all = sum->inputs.size() == (found.added == nullptr ? 2U : 3U);
  if (found.bias != nullptr && is_all) found.sum = sum;
  return found;
}

}  // namespace sardonyx::passes
