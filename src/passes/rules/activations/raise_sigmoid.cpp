// Before: y = Div(1, Add(1, Exp(Neg(x))))
// After:  y = Sigmoid(x)
// So, too, the Reciprocal of the sum.
#include "passes/rules/activations/rules.h"
#include "rewriting/patch.h"
#include "rewriting/pattern.h"

namespace sardonyx::passes {
namespace {

using namespace pattern;
using onnx::Node;
using onnx::Op;

enum { kX };

constexpr auto kSum = op(Op::kAdd, is_number(1), op(Op::kExp, op(Op::kNeg, any(kX))));
constexpr auto kWritten = either(op(Op::kDiv, is_number(1), kSum), op(Op::kReciprocal, kSum));

bool raise(Node* root, RuleContext& context) {
  const auto found = match(kWritten, root, context);
  if (!found) return false;
  Patch patch(context, root);
  patch.replace(root->output(), patch.node(Op::kSigmoid, {(*found)[kX]}, {}, root->output()->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kDiv, Op::kReciprocal};

}  // namespace

const Rule kRaiseSigmoid = {"raise-sigmoid", kRoots, raise, 13};

}  // namespace sardonyx::passes
