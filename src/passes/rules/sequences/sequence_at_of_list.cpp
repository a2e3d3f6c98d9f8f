// Before: y = SequenceAt(SequenceConstruct(a, b, c), 1)
// After:  y = Identity(b)
// torch.onnx writes lists of Python so where it does not optimize.
#include "passes/constant_ints.h"
#include "passes/rules/sequences/rules.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

bool take(Node* node, RuleContext& context) {
  const Node* list = made_by(node->input(0), Op::kSequenceConstruct);
  const auto place = known_int(node->input(1));
  if (list == nullptr || !place) return false;
  const auto count = static_cast<std::int64_t>(list->inputs.size());
  const std::int64_t at = *place < 0 ? *place + count : *place;
  if (at < 0 || at >= count) return context.decline(node, "the list is not that long");
  Patch patch(context, node);
  patch.replace(node->output(),
                patch.node(Op::kIdentity, {list->inputs[static_cast<std::size_t>(at)]}, {},
                           node->output()->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kSequenceAt};

}  // namespace

const Rule kSequenceAtOfList = {"sequence-at-of-list", kRoots, take, 11};

}  // namespace sardonyx::passes
