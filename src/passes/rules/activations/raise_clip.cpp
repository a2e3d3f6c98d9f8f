// Before: y = Min(Max(x, a), b)
// After:  y = Clip(x, a, b)
// So, too, Max(Min(x, b), a), and Relu for Max(x, 0); a and b are numbers, a <= b.
#include "passes/rules/activations/rules.h"
#include "rewriting/patch.h"
#include "rewriting/pattern.h"

namespace sardonyx::passes {
namespace {

using namespace pattern;
using onnx::Node;
using onnx::Op;

enum { kX, kLow, kHigh };

constexpr auto kFromBelow = op(Op::kMin, op(Op::kMax, any(kX), number(kLow)), number(kHigh));
constexpr auto kFromAbove = op(Op::kMax, op(Op::kMin, any(kX), number(kHigh)), number(kLow));
constexpr auto kRectified = op(Op::kMin, op(Op::kRelu, any(kX)), number(kHigh));

// Clip's bounds have no axes.
bool is_scalar(const onnx::ValueInfo* value) { return value->has_rank && value->shape.empty(); }

bool raise(Node* root, RuleContext& context) {
  auto found = match(kFromBelow, root, context);
  if (!found) found = match(kFromAbove, root, context);
  if (!found) found = match(kRectified, root, context);
  if (!found) return false;
  const double low = (*found)[kLow] == nullptr ? 0 : found->real(kLow);
  if (!(low <= found->real(kHigh)))
    return context.decline(root, "the bounds are the wrong way round");
  Patch patch(context, root);
  const auto bound = [&](onnx::ValueInfo* given, double value) {
    if (given != nullptr && is_scalar(given)) return given;
    return patch.constant(onnx::Tensor::filled(root->output()->dtype, {}, value));
  };
  patch.replace(root->output(), patch.node(Op::kClip,
                                           {(*found)[kX], bound((*found)[kLow], low),
                                            bound((*found)[kHigh], found->real(kHigh))},
                                           {}, root->output()->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kMin, Op::kMax};

}  // namespace

const Rule kRaiseClip = {"raise-clip", kRoots, raise, 13};

}  // namespace sardonyx::passes
