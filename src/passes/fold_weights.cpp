// Before: r = Reciprocal(Sqrt(Add(variance, epsilon))); y = Mul(x, r)    variance is a weight
// After:  y = Mul(x, r)    r is a weight
// Small weights only that nothing else reads, and only where the result is no larger than they are.
// What merely moves elements is left to other rules, after which the weight can still be replaced.
#include <algorithm>
#include <utility>
#include <vector>

#include "onnx/emit/emit.h"
#include "onnx/fold/fold.h"
#include "onnx/fold/folders.h"
#include "passes/rewrite.h"
#include "passes/rules.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::ValueInfo;

bool whole(const ValueInfo* value) {
  const onnx::Tensor* tensor = value->constant.get();
  return tensor != nullptr && tensor->data != nullptr && tensor->contiguous() &&
         tensor->as_it_lies();
}

bool fold_node(Node* node) {
  if (node->outputs.size() != 1 || node->output() == nullptr || node->output()->output_uses > 0 ||
      node->inputs.empty() || node->is("Transpose"))
    return false;
  std::int64_t largest = 0;
  bool reads_weight = false;
  for (const ValueInfo* input : node->inputs) {
    if (input == nullptr) continue;
    if (!whole(input) || (input->is_weight && !used_once(input))) return false;
    largest = std::max(largest, input->constant->element_count());
    reads_weight = reads_weight || input->is_weight;
  }
  if (!reads_weight || largest > onnx::folding::kMostElements) return false;
  std::vector<onnx::Tensor> results = onnx::fold(*node, onnx::Weights::kFold);
  if (results.size() != 1 || results[0].element_count() > largest) return false;
  for (ValueInfo* input : node->inputs)
    if (input != nullptr) input->is_folded = true;
  ValueInfo* const output = node->output();
  onnx::Model& model = *node->graph->model;
  ValueInfo* const folded = model.add_weight(output->name + "_folded", std::move(results[0]));
  return replace(output, folded);
}

}  // namespace

bool fold_weights(onnx::Model& model) { return each_node(model.graph, fold_node); }

}  // namespace sardonyx::passes
