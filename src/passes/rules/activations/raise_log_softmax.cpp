// Before: y = Log(Softmax<axis = i>(x))
// After:  y = LogSoftmax<axis = i>(x)
// So, too, Sub(x, ReduceLogSumExp<axes = [i]>(x)). What rounds to zero before the logarithm is not
// -inf any more.
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

enum { kX, kShares, kAxes };

bool keeps_axes(const Node* reduction) { return reduction->int_or("keepdims", 1) != 0; }

constexpr auto kLogarithm = op(Op::kLog, as(kShares, op(Op::kSoftmax, any(kX))));
constexpr auto kDifference =
    op(Op::kSub, any(kX), op(Op::kReduceLogSumExp, keeps_axes, any(kX), any(kAxes)));

std::optional<std::int64_t> axis_of(const Match& found) {
  if (found[kShares] != nullptr) return found.node(kShares)->int_or("axis", -1);
  const onnx::ValueInfo* const axes = found[kAxes];
  const auto list = axes->constant == nullptr ? std::nullopt : axes->constant->ints();
  return list && list->size() == 1 ? std::optional(list->front()) : std::nullopt;
}

bool raise(Node* root, RuleContext& context) {
  auto found = match(kLogarithm, root, context);
  if (!found) found = match(kDifference, root, context);
  if (!found) return false;
  const auto axis = axis_of(*found);
  if (!axis) return context.decline(root, "it is taken over several axes");
  Patch patch(context, root);
  patch.replace(root->output(), patch.node(Op::kLogSoftmax, {(*found)[kX]}, {{"axis", *axis, {}}},
                                           root->output()->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kLog, Op::kSub};

}  // namespace

const Rule kRaiseLogSoftmax = {"raise-log-softmax", kRoots, raise, 13};

}  // namespace sardonyx::passes
