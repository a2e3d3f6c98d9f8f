// Before: y = Tile(x, [1, 1, 4, 1])    x is [a, b, 1, c]
// After:  y = Expand(x, [1, 1, 4, 1])
// What repeats axes of size 1 alone broadcasts, which readers may do themselves.
#include <cstddef>

#include "passes/rules/reshape/rules.h"
#include "rewriting/patch.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

bool expand(Node* node, RuleContext& context) {
  ValueInfo *const x = node->input(0), *const repeats = node->input(1);
  if (repeats == nullptr || repeats->constant == nullptr || !x->has_rank) return false;
  const auto counts = repeats->constant->ints();
  if (!counts || counts->size() != x->shape.size()) return false;
  for (std::size_t axis = 0; axis < counts->size(); ++axis)
    if ((*counts)[axis] != 1 && ((*counts)[axis] < 1 || !x->shape[axis].is(1))) return false;
  Patch patch(context, node);
  patch.replace(node->output(), patch.node(Op::kExpand, {x, repeats}, {}, node->output()->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kTile};

}  // namespace

const Rule kExpandForTile = {"expand-for-tile", kRoots, expand, 13};

}  // namespace sardonyx::passes
