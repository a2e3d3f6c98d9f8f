// Before: r = Reciprocal(Sqrt(Add(variance, epsilon))); y = Mul(x, r)    variance is a weight
// After:  y = Mul(x, r)    r is a weight
// Weights of up to 16 million elements that nothing else reads, or small ones, and only where the
// result is no larger than they are, or small as well: the norm that a weight is divided by, gates
// put in another order, a table of biases by relative position, read at each pair of positions. A
// Transpose is left to transpose-weights, after which the weight can still be replaced. A Cast of a
// large weight between floating types is a step of its recipe, computed as the weight is written.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "onnx/emit/emit.h"
#include "onnx/fold/folders.h"
#include "onnx/fold/formula.h"
#include "onnx/graph/recipe.h"
#include "passes/rules/weights/rules.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::ValueInfo;

bool has_data(const ValueInfo* value) {
  return value->constant != nullptr && value->constant->data != nullptr;
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

bool is_constant(const ValueInfo* value) {
  return value == nullptr || value->constant != nullptr ||
         (value->producer != nullptr && std::ranges::all_of(value->producer->inputs, is_constant));
}

// Whether something is still to be computed with the value, which takes its data in memory.
bool is_folded_further(const ValueInfo* value) {
  return std::ranges::any_of(value->uses, [](const onnx::Use& use) {
    if (use.node->is(onnx::Op::kTranspose) && use.node->output() != nullptr)
      return is_folded_further(use.node->output());
    return std::ranges::all_of(use.node->inputs, is_constant);
  });
}

bool is_common_float(base::DType dtype) {
  return base::is_floating(dtype) && base::bit_width(dtype) >= 16;
}

// Whether the elements are numbers of the program's own weight: casts to wider types change none.
bool is_exact(const onnx::Tensor& tensor) {
  if (tensor.is_materialized()) return true;
  const bool is_cast = std::ranges::all_of(tensor.recipe->computations, [](const auto& each) {
    const auto* cast = std::get_if<onnx::CastWithOffset>(&each.step);
    return cast != nullptr && cast->by == 0 && base::bit_width(cast->dtype) >= 32;
  });
  return is_cast && base::bit_width(tensor.stored_dtype()) < base::bit_width(tensor.dtype);
}

// A Cast of a large weight between floating types, as a step of the weight's recipe. What was
// rounded before is rounded first, since a recipe rounds only once.
std::optional<onnx::Tensor> cast_while_written(const Node* node) {
  if (!node->is(onnx::Op::kCast) || node->output() == nullptr) return std::nullopt;
  const onnx::Tensor& weight = *node->input(0)->constant;
  const auto to = static_cast<base::DType>(node->int_or("to", 0));
  // What makes the file larger is bounded, as all that is folded.
  const bool grows = base::bit_width(to) > base::bit_width(weight.dtype);
  if (!is_common_float(weight.dtype) || !is_common_float(to) ||
      weight.element_count() <= kSmallWeight || is_folded_further(node->output()) ||
      (grows && weight.element_count() > onnx::kMaxFoldedWeight) ||
      onnx::derivation_of(weight) != nullptr)
    return std::nullopt;
  const onnx::Tensor own = onnx::recorded(*node->input(0));
  if (is_exact(weight)) return onnx::cast_with_offset(own, to, 0);
  onnx::Tensor rounded = onnx::in_memory(weight);
  if (onnx::has_origin(own)) {
    const onnx::Formula same{
        "Cast", {{"to", weight.dtype, {}}}, {onnx::without_data(own)}, /*outputs=*/1, /*output=*/0};
    rounded = onnx::computed_by(rounded, std::make_shared<const onnx::Formula>(same));
  }
  return onnx::cast_with_offset(rounded, to, 0);
}

std::vector<onnx::Tensor> results_of(const Node* node) {
  if (auto cast = cast_while_written(node)) return {*std::move(cast)};
  return onnx::fold_recorded(*node);
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
    if (!has_data(input)) return false;
    largest = std::max(largest, input->constant->element_count());
    reads_weight = reads_weight || input->is_weight;
  }
  if (!reads_weight) return false;
  if (const ValueInfo* shared = shared_weight(node))
    return context.decline(node, "something else reads '" + shared->name + "'");
  for (const ValueInfo* output : node->outputs)
    if (!output->returns.empty()) return context.decline(node, "it is an output of its graph");
  std::vector<onnx::Tensor> results = results_of(node);
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
