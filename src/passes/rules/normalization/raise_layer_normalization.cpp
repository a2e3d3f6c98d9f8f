// Before: d = Sub(x, ReduceMean<axes = [-1]>(x))
//         y = Div(d, Sqrt(Add(ReduceMean<axes = [-1]>(Pow(d, 2)), e)))
// After:  y = LayerNormalization<axis = -1, epsilon = e>(x, ones)
// So, too, where the square is Mul(d, d), where d is multiplied by the inverse, where the
// difference is computed twice, over several of the last axes, and as x * g + (bias - mean * g)
// with g = scale * Reciprocal(Sqrt(...)). Otherwise scale and bias follow by scale-normalization
// and shift-normalization.
// Over the channels of an image, or another axis of a constant size that is not the last one:
// After:  y = Transpose(LayerNormalization<axis = -1, epsilon = e>(Transpose(x), ones))
// Measured, that takes a quarter to two thirds of the time. Scale and bias follow by
// scale-channels.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
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
constexpr auto kCentered = op(Op::kSub, any(kX), kMeanOfX);
// The same, or once more by nodes of its own.
constexpr auto kCenteredToo =
    either(kCentered, op(Op::kSub, any(kX), mean(any(kX), any(kAxesAgain))));
constexpr auto kVariance =
    op(Op::kAdd, number(kEpsilon), as(kSquares, mean(square(kCenteredToo), any(kAxesOfSquares))));
constexpr auto kWritten = over_root(kCentered, kVariance);
constexpr auto kScaled = scaled_over_root(any(kScale), kCentered, kVariance);
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

// The one axis, which is not the last; nothing where there are others.
std::optional<std::size_t> inner_axis(const onnx::ValueInfo* x, const onnx::ValueInfo* axes) {
  const auto list = axes->constant == nullptr ? std::nullopt : axes->constant->ints();
  if (!x->has_rank || !list || list->size() != 1) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(x->shape.size());
  const std::int64_t axis = list->front() < 0 ? list->front() + rank : list->front();
  if (axis < 0 || axis + 1 >= rank) return std::nullopt;
  return static_cast<std::size_t>(axis);
}

// With the axis moved to the end and back.
bool raise_inner(const Match& found, std::size_t axis, Node* root, RuleContext& context) {
  onnx::ValueInfo* const x = found[kX];
  const auto epsilon = static_cast<float>(found.real(kEpsilon));
  if (!x->shape[axis].is_constant() || x->shape[axis].is(0))
    return context.decline(root, "the size that is normalized over is not constant");
  if (x->dtype == onnx::DType::kFloat64 && double{epsilon} != found.real(kEpsilon))
    return context.decline(root, "float32, the type of the attribute, does not hold epsilon");
  std::vector<std::int64_t> away(x->shape.size()), back(x->shape.size());
  std::iota(away.begin(), away.end(), 0);
  std::rotate(away.begin() + static_cast<std::ptrdiff_t>(axis),
              away.begin() + static_cast<std::ptrdiff_t>(axis) + 1, away.end());
  for (std::size_t i = 0; i < away.size(); ++i)
    back[static_cast<std::size_t>(away[i])] = static_cast<std::int64_t>(i);

  const std::string& name = root->output()->name;
  Patch patch(context, root);
  onnx::ValueInfo* const ones =
      patch.constant(onnx::Tensor::filled(x->dtype, {x->shape[axis].value()}, 1));
  onnx::ValueInfo* const moved = patch.node(Op::kTranspose, {x}, {{"perm", away, {}}}, name);
  onnx::ValueInfo* const normal =
      patch.node(Op::kLayerNormalization, {moved, ones},
                 {{"axis", std::int64_t{-1}, {}}, {"epsilon", epsilon, {}}}, name);
  patch.replace(root->output(), patch.node(Op::kTranspose, {normal}, {{"perm", back, {}}}, name));
  return patch.apply();
}

bool raise(Node* root, RuleContext& context) {
  auto found = match(kWritten, root, context);
  const bool written = found.has_value();
  if (!found) found = match(kScaled, root, context);
  if (!found) found = match(kAffine, root, context);
  if (!found) return false;
  if (!means_agree(*found))
    return context.decline(root, "mean and variance are taken over different axes");
  onnx::ValueInfo* const x = (*found)[kX];
  if (const auto axis = inner_axis(x, found->node(kMean)->input(1)); axis && written)
    return raise_inner(*found, *axis, root, context);
  const auto norm =
      normalized(x, found->node(kMean), found->real(kEpsilon), (*found)[kScale], root, context);
  if (!norm) return false;
  std::vector<onnx::ValueInfo*> inputs = {x, norm->scale};
  if (onnx::ValueInfo* const bias = (*found)[kBias]) {
    if (!same_dims(bias, norm->scale))
      return context.decline(root, "what is added is not of the sizes normalized over");
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
