// Before: y = Mul(x, ones); z = Sub(y, 0)
// After:  z = x
// So, too, Add of 0, Div by 1 and Pow by 1. A weight of a program may yet get other data, and goes
// in other people's models alone, in which normalizations have often never been trained.
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

// Looking at more of them would take longer than computing with them.
constexpr std::int64_t kMaxElements = 65536;

// What changes nothing as the second operand.
int neutral(const Node* node) { return node->is(Op::kAdd) || node->is(Op::kSub) ? 0 : 1; }

bool holds_alone(const onnx::Tensor& tensor, int number) {
  if (tensor.element_count() == 0 || tensor.element_count() > kMaxElements) return false;
  const auto is_it = [=](auto each) { return each == number; };
  if (base::is_floating(tensor.dtype)) {
    const auto reals = tensor.reals();
    return reals && std::ranges::all_of(*reals, is_it);
  }
  const auto ints = tensor.ints();
  return ints && std::ranges::all_of(*ints, is_it);
}

// Whether x is no larger for being combined with it.
bool fits_into(const ValueInfo* small, const ValueInfo* x) {
  if (!x->has_rank || !small->has_rank || small->shape.size() > x->shape.size()) return false;
  const std::size_t missing = x->shape.size() - small->shape.size();
  for (std::size_t i = 0; i < small->shape.size(); ++i)
    if (!small->shape[i].is(1) && !(small->shape[i] == x->shape[missing + i])) return false;
  return true;
}

bool drop_beside(Node* node, std::size_t side, RuleContext& context) {
  ValueInfo *const x = node->input(1 - side), *const other = node->input(side);
  if (x == nullptr || other == nullptr || other->constant == nullptr || other->is_disputed ||
      x->dtype != other->dtype || !holds_alone(*other->constant, neutral(node)))
    return false;
  if (other->is_weight && !context.is_foreign())
    return context.decline(node, "its weight may yet get other data");
  if (!fits_into(other, x)) return context.decline(node, "it may make its operand larger");
  Patch patch(context, node);
  patch.fold_in(other);
  patch.replace(node->output(), x);
  return patch.apply();
}

bool drop(Node* node, RuleContext& context) {
  if (node->output() == nullptr || node->inputs.size() != 2) return false;
  const bool in_any_order = node->is(Op::kAdd) || node->is(Op::kMul);
  return drop_beside(node, 1, context) || (in_any_order && drop_beside(node, 0, context));
}

constexpr Op kRoots[] = {Op::kAdd, Op::kDiv, Op::kMul, Op::kPow, Op::kSub};

}  // namespace

// Before opset 7 an attribute said where the smaller operand belongs.
const Rule kNeutralElement = {"neutral-element", kRoots, drop, 7, /*changes_weights=*/true};

}  // namespace sardonyx::passes
