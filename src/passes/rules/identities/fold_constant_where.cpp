// Before: y = Where(true, a, b)
// After:  y = a
// The condition may have any shape that makes nothing larger, as may the one that goes: what is
// left has the shape of y.
#include <algorithm>
#include <optional>

#include "passes/rules/identities/rules.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

// Looking at more of them would take longer than choosing.
constexpr std::int64_t kMaxElements = 65536;

// What a constant says throughout.
std::optional<bool> constant_truth(const ValueInfo* condition) {
  if (condition == nullptr || condition->constant == nullptr || condition->is_weight ||
      condition->is_disputed)
    return std::nullopt;
  const onnx::Tensor& tensor = *condition->constant;
  if (tensor.element_count() == 0 || tensor.element_count() > kMaxElements) return std::nullopt;
  const auto truths = tensor.ints();
  if (!truths || std::ranges::any_of(
                     *truths, [&](auto each) { return (each != 0) != (truths->front() != 0); }))
    return std::nullopt;
  return truths->front() != 0;
}

bool same_shape(const ValueInfo* a, const ValueInfo* b) {
  return a->has_rank && b->has_rank && a->shape.size() == b->shape.size() &&
         std::equal(a->shape.begin(), a->shape.end(), b->shape.begin());
}

bool choose(Node* node, RuleContext& context) {
  const auto truth = constant_truth(node->input(0));
  if (!truth || node->output() == nullptr) return false;
  ValueInfo* const chosen = node->input(*truth ? 1 : 2);
  if (chosen == nullptr || !same_shape(chosen, node->output()))
    return context.decline(node, "it may make what is chosen larger");
  Patch patch(context, node);
  patch.replace(node->output(), chosen);
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kWhere};

}  // namespace

const Rule kFoldConstantWhere = {"fold-constant-where", kRoots, choose, 9};

}  // namespace sardonyx::passes
