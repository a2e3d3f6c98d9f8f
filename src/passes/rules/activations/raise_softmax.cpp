// Before: e = Exp(Sub(x, ReduceMax<axes = [i]>(x))); y = Div(e, ReduceSum<axes = [i]>(e))
// After:  y = Softmax<axis = i>(x)
// So, too, where no maximum is subtracted: what overflows there does not any more.
#include <cstdint>
#include <optional>

#include "passes/rules/activations/rules.h"
#include "rewriting/patch.h"
#include "rewriting/pattern.h"

namespace sardonyx::passes {
namespace {

using namespace pattern;
using onnx::Node;
using onnx::Op;

enum { kX, kSum, kAxes, kMaxAxes };

bool keeps_axes(const Node* reduction) { return reduction->int_or("keepdims", 1) != 0; }

constexpr auto kLessItsMost =
    op(Op::kSub, any(kX), op(Op::kReduceMax, keeps_axes, any(kX), any(kMaxAxes)));

template <std::size_t N>
constexpr auto shares(const Pattern<N>& x) {
  const auto power = op(Op::kExp, x);
  return op(Op::kDiv, power, as(kSum, op(Op::kReduceSum, keeps_axes, power, any(kAxes))));
}

constexpr auto kStable = shares(kLessItsMost);
constexpr auto kPlain = shares(any(kX));

std::optional<std::int64_t> one_axis(const onnx::ValueInfo* axes, std::size_t rank) {
  if (axes == nullptr || axes->constant == nullptr) return std::nullopt;
  const auto list = axes->constant->ints();
  if (!list || list->size() != 1) return std::nullopt;
  return list->front() < 0 ? list->front() + static_cast<std::int64_t>(rank) : list->front();
}

bool raise(Node* root, RuleContext& context) {
  auto found = match(kStable, root, context);
  if (!found) found = match(kPlain, root, context);
  if (!found) return false;
  onnx::ValueInfo* const x = (*found)[kX];
  if (!x->has_rank) return context.decline(root, "the rank is not known");
  const auto axis = one_axis((*found)[kAxes], x->shape.size());
  if (!axis) return context.decline(root, "it is taken over several axes");
  // Whatever is subtracted along the axis makes no difference, but what varies along it does.
  const auto* most = (*found)[kMaxAxes];
  if (most != nullptr && one_axis(most, x->shape.size()) != axis)
    return context.decline(root, "the maximum is taken over another axis");
  Patch patch(context, root);
  patch.replace(root->output(),
                patch.node(Op::kSoftmax, {x}, {{"axis", *axis, {}}}, root->output()->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kDiv};

}  // namespace

const Rule kRaiseSoftmax = {"raise-softmax", kRoots, raise, 13};

}  // namespace sardonyx::passes
