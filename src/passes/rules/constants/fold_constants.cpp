// Before: n = Gather(Shape(x), 1); m = Mul(n, 2)    x is 4 wide
// After:  m is the constant 8
// Numbers of the code only: weights stay as they are, for they may yet be replaced. Functions whose
// last bit depends on the machine are folded in third-party models alone: exports are the same
// everywhere.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "onnx/fold/fold.h"
#include "onnx/operators/operator.h"
#include "passes/rules/constants/rules.h"
#include "rewriting/patch.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Tensor;
using onnx::ValueInfo;

// The elements that inference has found, where it has found all of them.
std::optional<Tensor> known_elements(const ValueInfo* value) {
  if (value->contents.empty() || value->dtype != onnx::DType::kInt64 || !value->has_rank ||
      value->shape.size() > 1)
    return std::nullopt;
  std::vector<std::int64_t> elements;
  for (const symbolic::Expr element : value->contents) {
    if (!element.known() || !element.is_constant()) return std::nullopt;
    elements.push_back(element.value());
  }
  std::vector<std::int64_t> dims;
  if (value->shape.size() == 1) dims.push_back(static_cast<std::int64_t>(elements.size()));
  return Tensor::of_ints(elements, std::move(dims));
}

bool reads_constants_alone(const Node* node) {
  return std::ranges::all_of(node->inputs, [](const ValueInfo* input) {
    return input == nullptr || (input->constant != nullptr && !input->is_weight);
  });
}

std::vector<Tensor> computed(const Node* node, bool is_foreign) {
  if (node->outputs.size() == 1) {
    if (auto elements = known_elements(node->output())) return {std::move(*elements)};
  }
  if (!reads_constants_alone(node)) return {};
  std::vector<Tensor> results =
      onnx::fold(*node, is_foreign ? onnx::Weights::kFold : onnx::Weights::kKeep);
  return results.size() == node->outputs.size() ? std::move(results) : std::vector<Tensor>{};
}

bool fold_node(Node* node, RuleContext& context) {
  if (node->inputs.empty() || onnx::operator_of(node->op).random ||
      std::ranges::find(node->outputs, nullptr) != node->outputs.end())
    return false;
  std::vector<Tensor> results = computed(node, context.is_foreign());
  if (results.empty()) return false;
  for (const ValueInfo* output : node->outputs)
    if (!output->returns.empty()) return context.decline(node, "it is an output of its graph");
  for (const Tensor& result : results)
    if (result.element_count() > context.limits().folded_elements)
      return context.decline(node, "the result is larger than what is computed beforehand");
  Patch patch(context, node);
  for (std::size_t i = 0; i < results.size(); ++i)
    patch.replace(node->outputs[i], context.model().add_constant(std::move(results[i])));
  return patch.apply();
}

}  // namespace

const Rule kFoldConstants = {"fold-constants", {}, fold_node};

}  // namespace sardonyx::passes
