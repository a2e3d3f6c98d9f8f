// Before: y = Mul(Swish<alpha>(gate), x)
// After:  y = SwiGLU<alpha>(gate, x)
// Both have one shape, since SwiGLU does not broadcast.
#include <algorithm>

#include "passes/rules/activations/rules.h"
#include "rewriting/patch.h"
#include "rewriting/pattern.h"

namespace sardonyx::passes {
namespace {

using namespace pattern;
using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

enum { kGate, kActivated, kLinear };

constexpr auto kWritten = op(Op::kMul, as(kActivated, op(Op::kSwish, any(kGate))), any(kLinear));

bool have_one_shape(const ValueInfo* a, const ValueInfo* b) {
  const auto is_same = [](onnx::Expr x, onnx::Expr y) { return x.known() && x == y; };
  return a->has_rank && b->has_rank && std::ranges::equal(a->shape, b->shape, is_same);
}

bool raise(Node* root, RuleContext& context) {
  const auto found = match(kWritten, root, context);
  if (!found) return false;
  ValueInfo *const gate = (*found)[kGate], *const linear = (*found)[kLinear];
  if (!have_one_shape(gate, linear))
    return context.decline(root, "the gate and what it gates may have different shapes");
  const float alpha = (*found)[kActivated]->producer->float_or("alpha", 1.0F);
  Patch patch(context, root);
  patch.replace(root->output(), patch.node(Op::kSwiGLU, {gate, linear}, {{"alpha", alpha, {}}},
                                           root->output()->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kMul};

}  // namespace

const Rule kRaiseSwiglu = {"raise-swiglu", kRoots, raise, 28};

}  // namespace sardonyx::passes
