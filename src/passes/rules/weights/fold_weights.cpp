// Before: r = Reciprocal(Sqrt(Add(variance, epsilon))); y = Mul(x, r)    variance is a weight
// After:  y = Mul(x, r)    r is a weight
// Small weights only that nothing else reads, and only where the result is no larger than they are,
// or small as well: a table of biases by relative position, say, read at each pair of positions.
// What merely moves elements is left to other rules, after which the weight can still be replaced.
#include <algorithm>
#include <utility>
#include <vector>

#include "onnx/emit/emit.h"
#include "onnx/fold/fold.h"
#include "onnx/fold/folders.h"
#include "passes/rules/weights/rules.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::ValueInfo;

bool whole(const ValueInfo* value) {
  const onnx::Tensor* tensor = value->constant.get();
  return tensor != nullptr && tensor->data != nullptr && tensor->contiguous() &&
         tensor->as_it_lies();
}

bool fold_node(Node* node, RuleContext& context) {
  ValueInfo* const output = node->output();
  // Transpose is left to transpose-weights, which moves no byte.
  if (node->outputs.size() != 1 || output == nullptr || node->inputs.empty() ||
      node->is(onnx::Op::kTranspose))
    return false;
  std::int64_t largest = 0;
  bool reads_weight = false;
  for (const ValueInfo* input : node->inputs) {
    if (input == nullptr) continue;
    if (input->constant == nullptr || !whole(input)) return false;
    largest = std::max(largest, input->constant->element_count());
    reads_weight = reads_weight || input->is_weight;
  }
  if (!reads_weight) return false;
  for (const ValueInfo* input : node->inputs)
    if (input != nullptr && input->is_weight && !used_once(input))
      return context.decline(node, "something else reads '" + input->name + "'");
  if (!output->returns.empty()) return context.decline(node, "it is an output of its graph");
  if (largest > context.limits().folded_elements)
    return context.decline(node, "its weight is larger than what is computed beforehand");
  std::vector<onnx::Tensor> results = onnx::fold(*node, onnx::Weights::kFold);
  if (results.size() != 1) return false;
  if (results[0].element_count() > std::max(largest, context.limits().folded_elements))
    return context.decline(node, "the result is larger than the weight, and not small");
  Patch patch(context, node);
  ValueInfo* const folded = patch.weight(output->name + "_folded", std::move(results[0]));
  for (ValueInfo* input : node->inputs)
    if (input != nullptr) patch.fold_in(input);
  patch.replace(output, folded);
  return patch.apply();
}

}  // namespace

const Rule kFoldWeights = {"fold-weights", {}, fold_node, 1, /*changes_weights=*/true};

}  // namespace sardonyx::passes
