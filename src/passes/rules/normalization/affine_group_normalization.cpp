// Before: y = Add(Mul(GroupNormalization(x, ones, zeros), w), b)    w and b are [channels, 1, 1]
// After:  y = GroupNormalization(x, Squeeze(w), Squeeze(b))
// A weight takes the Squeeze into itself.
#include "passes/rules/normalization/affine.h"
#include "passes/rules/normalization/rules.h"
#include "rewriting/patch.h"
#include "rewriting/pattern.h"

namespace sardonyx::passes {
namespace {

using namespace pattern;
using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

enum { kX, kOnes, kZeros, kNormal, kScale, kBias };

constexpr auto kPlain =
    as(kNormal, op(Op::kGroupNormalization, any(kX), any(kOnes, is_ones), any(kZeros, is_zeros)));
constexpr auto kWritten = op(Op::kAdd, any(kBias), op(Op::kMul, any(kScale), kPlain));

// The axes beside that of the channels, where `value` varies along that one alone.
std::optional<std::vector<std::int64_t>> other_axes(const ValueInfo* value, const ValueInfo* x) {
  if (!value->has_rank || value->shape.size() > x->shape.size()) return std::nullopt;
  const std::size_t missing = x->shape.size() - value->shape.size();
  if (missing > 1) return std::nullopt;
  std::vector<std::int64_t> others;
  for (std::size_t i = 0; i < value->shape.size(); ++i) {
    const symbolic::Expr wanted = i + missing == 1 ? x->shape[1] : symbolic::Expr(1);
    if (!value->shape[i].known() || !(value->shape[i] == wanted)) return std::nullopt;
    if (i + missing != 1) others.push_back(static_cast<std::int64_t>(i));
  }
  return others;
}

bool take(Node* sum, RuleContext& context) {
  const auto found = match(kWritten, sum, context);
  if (!found) return false;
  ValueInfo *const x = (*found)[kX], *const scale = (*found)[kScale], *const bias = (*found)[kBias];
  const auto of_scale = other_axes(scale, x), of_bias = other_axes(bias, x);
  if (!of_scale || !of_bias)
    return context.decline(sum, "scale and bias are not one number a channel");
  const Node* const normal = found->node(kNormal);
  Patch patch(context, sum);
  const auto squeezed = [&](ValueInfo* value, const std::vector<std::int64_t>& axes) {
    if (axes.empty()) return value;
    return patch.node(Op::kSqueeze, {value, patch.ints(axes)}, {}, value->name + "_squeezed");
  };
  patch.replace(sum->output(), patch.node(Op::kGroupNormalization,
                                          {x, squeezed(scale, *of_scale), squeezed(bias, *of_bias)},
                                          normal->attributes, sum->output()->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kAdd};

}  // namespace

const Rule kAffineGroupNormalization = {"affine-group-normalization", kRoots, take, 21};

}  // namespace sardonyx::passes
