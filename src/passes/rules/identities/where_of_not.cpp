// Before: y = Where(Not(c), a, b)
// After:  y = Where(c, b, a)
#include "passes/rules/identities/rules.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;

bool choose(Node* node, RuleContext& context) {
  const Node* negation = made_by(node->input(0), Op::kNot);
  if (negation == nullptr) return false;
  Patch patch(context, node);
  patch.replace(node->output(),
                patch.node(Op::kWhere, {negation->input(0), node->input(2), node->input(1)}, {},
                           node->output()->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kWhere};

}  // namespace

const Rule kWhereOfNot = {"where-of-not", kRoots, choose, 9};

}  // namespace sardonyx::passes
