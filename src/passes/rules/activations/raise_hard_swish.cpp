// Before: y = Div(Mul(x, Clip(Add(x, 3), 0, 6)), 6)
// After:  y = HardSwish(x)
// So, too, Mul(x, HardSigmoid<alpha = 1 / 6, beta = 0.5>(x)), and factors in any order.
#include "passes/rules/activations/rules.h"
#include "rewriting/patch.h"
#include "rewriting/pattern.h"

namespace sardonyx::passes {
namespace {

using namespace pattern;
using onnx::Node;
using onnx::Op;

enum { kX };

bool by_a_sixth(const Node* node) {
  return node->float_or("alpha", 0.2F) == 1.0F / 6.0F && node->float_or("beta", 0.5F) == 0.5F;
}

constexpr auto kClipped =
    op(Op::kClip, op(Op::kAdd, any(kX), is_number(3)), is_number(0), is_number(6));
constexpr auto kWritten = either(op(Op::kMul, any(kX), op(Op::kHardSigmoid, by_a_sixth, any(kX))),
                                 op(Op::kDiv, op(Op::kMul, any(kX), kClipped), is_number(6)),
                                 op(Op::kMul, any(kX), op(Op::kDiv, kClipped, is_number(6))),
                                 op(Op::kMul, any(kX), kClipped, is_number(1.0 / 6)));

bool raise(Node* root, RuleContext& context) {
  const auto found = match(kWritten, root, context);
  if (!found) return false;
  if (root->output()->dtype == onnx::DType::kFloat64)
    return context.decline(root, "HardSwish divides by six in float32");
  Patch patch(context, root);
  patch.replace(root->output(),
                patch.node(Op::kHardSwish, {(*found)[kX]}, {}, root->output()->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kMul, Op::kDiv};

}  // namespace

const Rule kRaiseHardSwish = {"raise-hard-swish", kRoots, raise, 14};

}  // namespace sardonyx::passes
