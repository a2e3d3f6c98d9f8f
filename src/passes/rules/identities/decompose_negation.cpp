// Before: y = Mul(x, -1) or Div(x, -1)
// After:  y = Neg(x)
// Exporters of other frameworks write it so, and what looks for Neg, as rotary embeddings
// do, is spared to know them.
#include "passes/rules/identities/rules.h"
#include "rewriting/patch.h"
#include "rewriting/pattern.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

// A number that has no more axes than `x`.
bool is(const ValueInfo* value, double number, const ValueInfo* x) {
  return value != nullptr && value->constant != nullptr && x->has_rank &&
         value->constant->dims.size() <= x->shape.size() && number_of(value) == number;
}

bool spell(Node* node, RuleContext& context) {
  ValueInfo *const left = node->input(0), *const right = node->input(1);
  if (base::is_unsigned(node->output()->dtype)) return false;
  ValueInfo* x = nullptr;
  if (is(right, -1, left)) x = left;
  if (node->is(Op::kMul) && is(left, -1, right)) x = right;
  if (x == nullptr || x->constant != nullptr) return false;
  Patch patch(context, node);
  patch.replace(node->output(), patch.node(Op::kNeg, {x}, {}, node->output()->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kMul, Op::kDiv};

}  // namespace

const Rule kDecomposeNegation = {"decompose-negation", kRoots, spell, 13};

}  // namespace sardonyx::passes
