// Before: y = Mul(x, Tanh(Softplus(x)))
// After:  y = Mish(x)
#include "passes/rules/activations/rules.h"
#include "rewriting/patch.h"
#include "rewriting/pattern.h"

namespace sardonyx::passes {
namespace {

using namespace pattern;
using onnx::Node;
using onnx::Op;

enum { kX };

constexpr auto kWritten = op(Op::kMul, any(kX), op(Op::kTanh, op(Op::kSoftplus, any(kX))));

bool raise(Node* root, RuleContext& context) {
  const auto found = match(kWritten, root, context);
  if (!found) return false;
  Patch patch(context, root);
  patch.replace(root->output(), patch.node(Op::kMish, {(*found)[kX]}, {}, root->output()->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kMul};

}  // namespace

const Rule kRaiseMish = {"raise-mish", kRoots, raise, 18};

}  // namespace sardonyx::passes
