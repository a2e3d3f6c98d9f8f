// Before: y = Div(Clip(Add(x, 3), 0, 6), 6)
// After:  y = HardSigmoid<alpha = 1 / 6, beta = 0.5>(x)
// So, too, where it is multiplied by a sixth, and Clip(Add(Mul(x, alpha), beta), 0, 1), which is
// Keras'.
#include "passes/rules/activations/rules.h"
#include "rewriting/patch.h"
#include "rewriting/pattern.h"

namespace sardonyx::passes {
namespace {

using namespace pattern;
using onnx::Node;
using onnx::Op;

enum { kX, kAlpha, kBeta };

constexpr auto kClipped =
    op(Op::kClip, op(Op::kAdd, any(kX), is_number(3)), is_number(0), is_number(6));
constexpr auto kSixth =
    either(op(Op::kDiv, kClipped, is_number(6)), op(Op::kMul, kClipped, is_number(1.0 / 6)));
constexpr auto kLinear =
    op(Op::kClip, op(Op::kAdd, op(Op::kMul, any(kX), number(kAlpha)), number(kBeta)), is_number(0),
       is_number(1));

bool raise(Node* root, RuleContext& context) {
  auto found = match(kSixth, root, context);
  if (!found) found = match(kLinear, root, context);
  if (!found) return false;
  if (root->output()->dtype == onnx::DType::kFloat64)
    return context.decline(root, "float32, the type of the attributes, does not hold them");
  const bool given = (*found)[kAlpha] != nullptr;
  const float alpha = given ? static_cast<float>(found->real(kAlpha)) : 1.0F / 6.0F;
  const float beta = given ? static_cast<float>(found->real(kBeta)) : 0.5F;
  Patch patch(context, root);
  patch.replace(root->output(),
                patch.node(Op::kHardSigmoid, {(*found)[kX]},
                           {{"alpha", alpha, {}}, {"beta", beta, {}}}, root->output()->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kDiv, Op::kMul, Op::kClip};

}  // namespace

const Rule kRaiseHardSigmoid = {"raise-hard-sigmoid", kRoots, raise, 6};

}  // namespace sardonyx::passes
