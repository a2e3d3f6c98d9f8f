// Before: y = Mul(weight, RMSNormalization(x, ones))
// After:  y = RMSNormalization(x, weight)
// LayerNormalization likewise, as long as it has no bias. Of a scale that is not of the sizes
// normalized over, what is left is a multiplication of its own.
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

enum { kX, kOnes, kNormal, kScale };

constexpr auto kScaled =
    op(Op::kMul, any(kScale),
       as(kNormal, either(op(Op::kRMSNormalization, any(kX), any(kOnes, is_no_scale)),
                          op(Op::kLayerNormalization, any(kX), any(kOnes, is_no_scale)))));

bool scale(Node* product, RuleContext& context) {
  const auto found = match(kScaled, product, context);
  if (!found) return false;
  ValueInfo* const by = (*found)[kScale];
  if (!same_dims(by, (*found)[kOnes]))
    return context.decline(product, "what it is scaled by is not of the sizes normalized over");
  const Node* const normal = found->node(kNormal);
  Patch patch(context, product);
  patch.replace(product->output(), patch.node(normal->op, {(*found)[kX], by}, normal->attributes,
                                              product->output()->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kMul};

}  // namespace

const Rule kScaleNormalization = {"scale-normalization", kRoots, scale, 17};

}  // namespace sardonyx::passes
