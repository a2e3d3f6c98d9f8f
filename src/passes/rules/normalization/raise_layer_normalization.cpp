// Before: d = Sub(x, ReduceMean<axes = [-1]>(x))
//         y = Div(d, Sqrt(Add(ReduceMean<axes = [-1]>(Pow(d, 2)), e)))
// After:  y = LayerNormalization<axis = -1, epsilon = e>(x, ones)
// So, too, where the square is Mul(d, d), where d is multiplied by the inverse, where the
// difference is computed twice, over several of the last axes, and as x * g + (bias - mean * g)
// with g = scale * Reciprocal(Sqrt(...)). Otherwise scale and bias follow by scale-normalization
// and shift-normalization.
#include <utility>
#include <vector>

#include "passes/rules/normalization/affine.h"
#include "passes/rules/normalization/rules.h"
#include "passes/rules/normalization/statistics.h"
#include "rewriting/patch.h"

namespace sardonyx::passes {
namespace {

using namespace form;
using onnx::Node;

enum { kX, kMean, kAxes, kAxesAgain, kEpsilon, kSquares, kAxesOfSquares, kScale, kBias };

constexpr auto kMeanOfX = as(kMean, mean(any(kX), any(kAxes)));
constexpr auto kCentred = op(Op::kSub, any(kX), kMeanOfX);
// The same, or once more by nodes of its own.
constexpr auto kCentredToo =
    either(kCentred, op(Op::kSub, any(kX), mean(any(kX), any(kAxesAgain))));
constexpr auto kVariance =
    op(Op::kAdd, number(kEpsilon), as(kSquares, mean(square(kCentredToo), any(kAxesOfSquares))));
constexpr auto kWritten = over_root(kCentred, kVariance);
constexpr auto kScaled = scaled_over_root(any(kScale), kCentred, kVariance);
// TensorFlow's order: x * gain + (bias - mean * gain)
constexpr auto kGain = op(Op::kMul, any(kScale), inverse_root(kVariance));
constexpr auto kAffine = op(Op::kAdd, op(Op::kMul, any(kX), kGain),
                            op(Op::kSub, any(kBias), op(Op::kMul, kMeanOfX, kGain)));

bool means_agree(const Match& found) {
  const auto agrees = [&](int axes) {
    return found[axes] == nullptr || same_axes(found[kX], found[kAxes], found[axes]);
  };
  return agrees(kAxesAgain) && agrees(kAxesOfSquares);
}

bool raise(Node* root, RuleContext& context) {
  auto found = match(kWritten, root, context);
  if (!found) found = match(kScaled, root, context);
  if (!found) found = match(kAffine, root, context);
  if (!found) return false;
  if (!means_agree(*found))
    return context.decline(root, "mean and variance are taken over different axes");
  onnx::ValueInfo* const x = (*found)[kX];
  const auto norm =
      normalized(x, found->node(kMean), found->real(kEpsilon), (*found)[kScale], root, context);
  if (!norm) return false;
  std::vector<onnx::ValueInfo*> inputs = {x, norm->scale};
  if (onnx::ValueInfo* const bias = (*found)[kBias]) {
    if (!same_dims(bias, norm->scale))
      return context.decline(root, "what is added is not of the sizes normalised over");
    inputs.push_back(bias);
  }
  Patch patch(context, root);
  patch.replace(
      root->output(),
      patch.node(Op::kLayerNormalization, std::move(inputs),
                 {{"axis", norm->axis, {}}, {"epsilon", norm->epsilon, {}}}, root->output()->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kMul, Op::kDiv, Op::kAdd};

}  // namespace

const Rule kRaiseLayerNormalization = {"raise-layer-normalization", kRoots, raise, 17};

}  // namespace sardonyx::passes
