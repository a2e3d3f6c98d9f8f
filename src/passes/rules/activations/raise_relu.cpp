// Before: y = Max(x, 0)
// After:  y = Relu(x)
// Before: y = Max(x, Mul(x, 0.1)), or Where(Greater(x, 0), x, Mul(x, 0.1))
// After:  y = LeakyRelu<alpha = 0.1>(x)
// Runtimes put these into the convolution before them.
#include <cmath>

#include "passes/rules/activations/rules.h"
#include "rewriting/patch.h"
#include "rewriting/pattern.h"

namespace sardonyx::passes {
namespace {

using namespace pattern;
using onnx::DType;
using onnx::Node;
using onnx::Op;

enum { kX, kSlope };

constexpr auto kNegativePart = op(Op::kMul, any(kX), number(kSlope));
constexpr auto kRelu = op(Op::kMax, any(kX), is_number(0));
constexpr auto kGreater = op(Op::kMax, any(kX), kNegativePart);
constexpr auto kChosen =
    either(op(Op::kWhere, op(Op::kGreater, any(kX), is_number(0)), any(kX), kNegativePart),
           op(Op::kWhere, op(Op::kGreaterOrEqual, any(kX), is_number(0)), any(kX), kNegativePart),
           op(Op::kWhere, op(Op::kLess, any(kX), is_number(0)), kNegativePart, any(kX)),
           op(Op::kWhere, op(Op::kLessOrEqual, any(kX), is_number(0)), kNegativePart, any(kX)));

// Zeros, or slopes, of more axes make the result larger, which the patch refuses.
bool raise(Node* root, RuleContext& context) {
  const DType dtype = root->output() == nullptr ? DType::kUndefined : root->output()->dtype;
  if (dtype != DType::kFloat32) return false;
  if (const auto found = match(kRelu, root, context)) {
    Patch patch(context, root);
    patch.replace(root->output(), patch.node(Op::kRelu, {(*found)[kX]}, {}, root->output()->name));
    return patch.apply();
  }
  auto found = match(kGreater, root, context);
  const bool by_size = found.has_value();
  if (!found) found = match(kChosen, root, context);
  if (!found) return false;
  const double slope = found->real(kSlope);
  if (by_size ? !(slope > 0 && slope < 1) : !std::isfinite(slope))
    return context.decline(root, "the slope is not between 0 and 1");
  Patch patch(context, root);
  patch.replace(root->output(),
                patch.node(Op::kLeakyRelu, {(*found)[kX]},
                           {{"alpha", static_cast<float>(slope), {}}}, root->output()->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kMax, Op::kWhere};

}  // namespace

const Rule kRaiseRelu = {"raise-relu", kRoots, raise, 8};

}  // namespace sardonyx::passes
