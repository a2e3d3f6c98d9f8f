// Before: d = Sub(x, ReduceMean<axes = [-1]>(x))
//         y = Div(d, Sqrt(Add(ReduceMean<axes = [-1]>(Pow(d, 2)), e)))
// After:  y = LayerNormalization<axis = -1, epsilon = e>(x, ones)
// So, too, where the square is Mul(d, d), where d is multiplied by the inverse, where the
// difference is computed twice, and over several of the last axes. Scale and bias follow by
// scale-normalization and shift-normalization.
#include "passes/rules/normalization/rules.h"
#include "passes/rules/normalization/statistics.h"
#include "rewriting/patch.h"

namespace sardonyx::passes {
namespace {

using namespace form;
using onnx::Node;

enum { kX, kAxes, kMean, kEpsilon, kVariance, kSquaredAxes };

constexpr auto kCentred = op(Op::kSub, any(kX), as(kMean, mean(any(kX), any(kAxes))));
constexpr auto kWritten = over_root(
    kCentred,
    op(Op::kAdd, number(kEpsilon), as(kVariance, mean(square(kCentred), any(kSquaredAxes)))));

bool same_axes(const Match& found) {
  const auto *a = found[kAxes], *b = found[kSquaredAxes];
  return a == b || (a->constant != nullptr && b->constant != nullptr &&
                    a->constant->ints() == b->constant->ints());
}

bool raise(Node* root, RuleContext& context) {
  const auto found = match(kWritten, root, context);
  if (!found) return false;
  if (!same_axes(*found))
    return context.decline(root, "mean and variance are taken over different axes");
  const auto norm =
      normalized((*found)[kX], found->node(kMean), found->real(kEpsilon), root, context);
  if (!norm) return false;
  Patch patch(context, root);
  patch.replace(
      root->output(),
      patch.node(Op::kLayerNormalization, {(*found)[kX], patch.constant(norm->ones)},
                 {{"axis", norm->axis, {}}, {"epsilon", norm->epsilon, {}}}, root->output()->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kMul, Op::kDiv};

}  // namespace

const Rule kRaiseLayerNormalization = {"raise-layer-normalization", kRoots, raise, 17};

}  // namespace sardonyx::passes
