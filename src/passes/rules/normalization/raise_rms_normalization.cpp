// Before: y = Mul(x, Reciprocal(Sqrt(Add(ReduceMean<axes = [-1]>(Mul(x, x)), e))))
// After:  y = RMSNormalization<axis = -1, epsilon = e>(x, ones)
// So, too, where the square is Pow(x, 2), where x is divided by the root, and over several of the
// last axes. The scale follows by scale-normalization, and what is computed in float32 on behalf of
// float16 by normalize-in-half.
#include "passes/rules/normalization/rules.h"
#include "passes/rules/normalization/statistics.h"
#include "rewriting/patch.h"

namespace sardonyx::passes {
namespace {

using namespace form;
using onnx::Node;

enum { kX, kAxes, kMean, kEpsilon, kScale };

constexpr auto kVariance =
    op(Op::kAdd, number(kEpsilon), as(kMean, mean(square(any(kX)), any(kAxes))));
constexpr auto kWritten = over_root(any(kX), kVariance);
constexpr auto kScaled = scaled_over_root(any(kScale), any(kX), kVariance);

bool raise(Node* root, RuleContext& context) {
  auto found = match(kWritten, root, context);
  if (!found) found = match(kScaled, root, context);
  if (!found) return false;
  onnx::ValueInfo* const x = (*found)[kX];
  const auto norm =
      normalized(x, found->node(kMean), found->real(kEpsilon), (*found)[kScale], root, context);
  if (!norm) return false;
  Patch patch(context, root);
  patch.replace(
      root->output(),
      patch.node(Op::kRMSNormalization, {x, norm->scale},
                 {{"axis", norm->axis, {}}, {"epsilon", norm->epsilon, {}}}, root->output()->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kMul, Op::kDiv};

}  // namespace

const Rule kRaiseRmsNormalization = {"raise-rms-normalization", kRoots, raise, 23};

}  // namespace sardonyx::passes
