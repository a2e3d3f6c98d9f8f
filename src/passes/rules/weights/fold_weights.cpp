// Before: r = Reciprocal(Sqrt(Add(variance, epsilon))); y = Mul(x, r)    variance is a weight
// After:  y = Mul(x, r)    r is a weight
// Weights of up to 16 million elements that nothing else reads, or small ones, and only where the
// result is no larger than they are, or small as well: the norm that a weight is divided by, gates
// put in another order, a table of biases by relative position, read at each pair of positions. A
// Transpose is left to transpose-weights, after which the weight can still be replaced.
#include <algorithm>
#include <utility>
#include <vector>

#include "onnx/emit/emit.h"
#include "onnx/fold/folders.h"
#include "onnx/fold/formula.h"
#include "passes/rules/weights/rules.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::ValueInfo;

bool whole(const ValueInfo* value) {
  const onnx::Tensor* tensor = value->constant.get();
  return tensor != nullptr && tensor->data != nullptr && tensor->is_materialized();
}

// A weight that something else reads, and that is too large to be there twice.
const ValueInfo* shared_weight(const Node* node) {
  for (const ValueInfo* input : node->inputs) {
    // Indices and masks are nobody's parameters: several read them, and each is better off without.
    if (input != nullptr && input->is_weight && !used_once(input) &&
        base::is_floating(input->dtype) && input->constant->element_count() > kSmallWeight)
      return input;
  }
  return nullptr;
}

bool fold_node(Node* node, RuleContext& context) {
  // Transpose is left to transpose-weights, which moves no byte.
  if (node->inputs.empty() || node->is(onnx::Op::kTranspose) ||
      std::ranges::find(node->outputs, nullptr) != node->outputs.end())
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
  if (const ValueInfo* shared = shared_weight(node))
    return context.decline(node, "something else reads '" + shared->name + "'");
  for (const ValueInfo* output : node->outputs)
    if (!output->returns.empty()) return context.decline(node, "it is an output of its graph");
  std::vector<onnx::Tensor> results = onnx::fold_recorded(*node);
  if (results.empty() || results.size() != node->outputs.size()) return false;
  for (const onnx::Tensor& result : results)
    if (result.element_count() > std::max(largest, context.limits().folded_elements))
      return context.decline(node, "the result is larger than the weight, and not small");
  Patch patch(context, node);
  for (ValueInfo* input : node->inputs)
    if (input != nullptr) patch.fold_in(input);
  for (std::size_t i = 0; i < results.size(); ++i) {
    ValueInfo* const output = node->outputs[i];
    patch.replace(output, patch.weight(output->name + "_folded", std::move(results[i])));
  }
  return patch.apply();
}

}  // namespace

const Rule kFoldWeights = {"fold-weights", {}, fold_node, 1, /*changes_weights=*/true};

}  // namespace sardonyx::passes
