// Before: y = Log(Add(Exp(x), 1))
// After:  y = Softplus(x)
// It is x where the sum overflows. So, too, Add(Relu(x), Softplus(Neg(Abs(x)))), and
// Where(Greater(x, 20), x, Softplus(x)), which is PyTorch's: from 17 on they are the same in
// float32.
#include "passes/rules/activations/rules.h"
#include "rewriting/patch.h"
#include "rewriting/pattern.h"

namespace sardonyx::passes {
namespace {

using namespace pattern;
using onnx::Node;
using onnx::Op;

enum { kX, kThreshold };

constexpr auto kPlain = op(Op::kLog, op(Op::kAdd, is_number(1), op(Op::kExp, any(kX))));
constexpr auto kStable =
    op(Op::kAdd, op(Op::kRelu, any(kX)), op(Op::kSoftplus, op(Op::kNeg, op(Op::kAbs, any(kX)))));
constexpr auto kLinearAbove = op(Op::kWhere, op(Op::kGreater, any(kX), number(kThreshold)), any(kX),
                                 op(Op::kSoftplus, any(kX)));

bool raise(Node* root, RuleContext& context) {
  auto found = match(kPlain, root, context);
  if (!found) found = match(kStable, root, context);
  if (!found) {
    found = match(kLinearAbove, root, context);
    if (found && (root->output()->dtype == onnx::DType::kFloat64 || found->real(kThreshold) < 17))
      return context.decline(root, "Softplus is not linear from the threshold on");
  }
  if (!found) return false;
  Patch patch(context, root);
  patch.replace(root->output(),
                patch.node(Op::kSoftplus, {(*found)[kX]}, {}, root->output()->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kAdd, Op::kLog, Op::kWhere};

}  // namespace

const Rule kRaiseSoftplus = {"raise-softplus", kRoots, raise, 13};

}  // namespace sardonyx::passes
