// Before: y = Cast<to = float16>(RMSNormalization(Cast<to = float32>(x), ones))
// After:  y = RMSNormalization<stash_type = float32>(x, ones)
// LayerNormalization likewise, without a bias. What is scaled before the Cast back stays: it would
// be rounded once more.
#include "passes/rules/normalization/affine.h"
#include "passes/rules/normalization/rules.h"
#include "rewriting/patch.h"
#include "rewriting/pattern.h"

namespace sardonyx::passes {
namespace {

using namespace pattern;
using onnx::DType;
using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

enum { kX, kWide, kOnes, kNormal };

// Others may read x in float32, too.
constexpr auto kWidened = as(kWide, shared(op(Op::kCast, any(kX))));
constexpr auto kNarrowed = op(
    Op::kCast, as(kNormal, either(op(Op::kRMSNormalization, kWidened, any(kOnes, is_no_scale)),
                                  op(Op::kLayerNormalization, kWidened, any(kOnes, is_no_scale)))));

bool narrow(Node* cast, RuleContext& context) {
  const auto found = match(kNarrowed, cast, context);
  if (!found) return false;
  ValueInfo* const x = (*found)[kX];
  const bool is_half = x->dtype == DType::kFloat16 || x->dtype == DType::kBFloat16;
  if (!is_half || cast->output()->dtype != x->dtype || (*found)[kWide]->dtype != DType::kFloat32)
    return context.decline(cast, "x is not of the half type that comes back from float32");
  const Node* const normal = found->node(kNormal);
  Patch patch(context, cast);
  ValueInfo* const ones =
      patch.constant(onnx::Tensor::filled(x->dtype, (*found)[kOnes]->constant->dims, 1));
  patch.replace(cast->output(),
                patch.node(normal->op, {x, ones}, normal->attributes, cast->output()->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kCast};

}  // namespace

const Rule kNormalizeInHalf = {"normalize-in-half", kRoots, narrow, 17};

}  // namespace sardonyx::passes
