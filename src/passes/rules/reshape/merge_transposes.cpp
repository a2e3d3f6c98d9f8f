// Before: y = Transpose<perm = [0, 3, 1, 2]>(Transpose<perm = [0, 2, 3, 1]>(x))
// After:  y = x
// Two that meet are one, and one that leaves all axes where they are is none. A first one that
// something else reads, too, stays before a second one that does not undo it.
#include <utility>

#include "passes/rules/reshape/rules.h"
#include "passes/transposition/transpose_sinking.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;

bool join(Node* last, RuleContext& context) {
  const auto perm = perm_of(last);
  if (!perm) return false;
  const Node* first = made_by(last->input(0), Op::kTranspose);
  const auto before = perm_of(first);
  if (!before && !changes_nothing(*perm)) return false;
  onnx::ValueInfo* const x = before ? first->input(0) : last->input(0);
  Perm both = before ? joined(*before, *perm) : *perm;
  const bool undone = changes_nothing(both);
  if (!undone && !used_once(last->input(0)))
    return context.decline(last, "something else reads what is transposed again");
  if (undone && !can_replace(last->output(), x))
    return context.decline(last, "the output's name cannot go to another node");
  Patch patch(context, last);
  patch.replace(last->output(),
                undone ? x
                       : patch.node(Op::kTranspose, {x}, {{"perm", std::move(both), {}}},
                                    last->output()->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kTranspose};

}  // namespace

const Rule kMergeTransposes = {"merge-transposes", kRoots, join};

}  // namespace sardonyx::passes
