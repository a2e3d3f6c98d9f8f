// Before: y = Div(Clip(Add(x, 3), 0, 6), 6)
// After:  y = HardSigmoid<alpha = 1 / 6, beta = 0.5>(x)
// So, too, where it is multiplied by a sixth.
#include "passes/rules/activations/rules.h"
#include "rewriting/patch.h"
#include "rewriting/pattern.h"

namespace sardonyx::passes {
namespace {

using namespace pattern;
using onnx::Node;
using onnx::Op;

enum { kX };

constexpr auto kClipped =
    op(Op::kClip, op(Op::kAdd, any(kX), is_number(3)), is_number(0), is_number(6));
constexpr auto kWritten =
    either(op(Op::kDiv, kClipped, is_number(6)), op(Op::kMul, kClipped, is_number(1.0 / 6)));

bool raise(Node* root, RuleContext& context) {
  const auto found = match(kWritten, root, context);
  if (!found) return false;
  if (root->output()->dtype == onnx::DType::kFloat64)
    return context.decline(root, "float32, the type of the attribute, does not hold a sixth");
  Patch patch(context, root);
  patch.replace(root->output(),
                patch.node(Op::kHardSigmoid, {(*found)[kX]},
                           {{"alpha", 1.0F / 6.0F, {}}, {"beta", 0.5F, {}}}, root->output()->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kDiv, Op::kMul};

}  // namespace

const Rule kRaiseHardSigmoid = {"raise-hard-sigmoid", kRoots, raise, 6};

}  // namespace sardonyx::passes
