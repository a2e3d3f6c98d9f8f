// Before: y = Add(LayerNormalization(x, weight), bias)
// After:  y = LayerNormalization(x, weight, bias)
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

enum { kX, kScale, kNormal, kBias };

constexpr auto kShifted =
    op(Op::kAdd, any(kBias), as(kNormal, op(Op::kLayerNormalization, any(kX), any(kScale))));

bool shift(Node* sum, RuleContext& context) {
  const auto found = match(kShifted, sum, context);
  if (!found) return false;
  ValueInfo* const bias = (*found)[kBias];
  if (!same_dims(bias, (*found)[kScale])) return false;  // a residual
  const Node* const normal = found->node(kNormal);
  Patch patch(context, sum);
  patch.replace(sum->output(),
                patch.node(Op::kLayerNormalization, {(*found)[kX], (*found)[kScale], bias},
                           normal->attributes, sum->output()->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kAdd};

}  // namespace

const Rule kShiftNormalization = {"shift-normalization", kRoots, shift, 17};

}  // namespace sardonyx::passes
