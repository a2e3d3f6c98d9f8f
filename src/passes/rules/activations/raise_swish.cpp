// Before: y = Mul(x, Sigmoid(Mul(x, a)))
// After:  y = Swish<alpha = a>(x)
// So, too, Mul(x, Sigmoid(x)), which is SiLU, and Div(x, Add(1, Exp(Neg(x)))).
#include "passes/rules/activations/rules.h"
#include "rewriting/patch.h"
#include "rewriting/pattern.h"

namespace sardonyx::passes {
namespace {

using namespace pattern;
using onnx::Node;
using onnx::Op;

enum { kX, kAlpha };

constexpr auto kWritten = either(
    op(Op::kMul, any(kX), op(Op::kSigmoid, either(any(kX), op(Op::kMul, any(kX), number(kAlpha))))),
    op(Op::kDiv, any(kX), op(Op::kAdd, is_number(1), op(Op::kExp, op(Op::kNeg, any(kX))))));

bool raise(Node* root, RuleContext& context) {
  const auto found = match(kWritten, root, context);
  if (!found) return false;
  const double alpha = (*found)[kAlpha] == nullptr ? 1 : found->real(kAlpha);
  const auto narrow = static_cast<float>(alpha);
  if (root->output()->dtype == onnx::DType::kFloat64 && double{narrow} != alpha)
    return context.decline(root, "float32, the type of the attribute, does not hold the factor");
  Patch patch(context, root);
  patch.replace(root->output(), patch.node(Op::kSwish, {(*found)[kX]}, {{"alpha", narrow, {}}},
                                           root->output()->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kMul, Op::kDiv};

}  // namespace

const Rule kRaiseSwish = {"raise-swish", kRoots, raise, 24};

}  // namespace sardonyx::passes
