// Before: y = Reshape(Unsqueeze(x, [1]), [0, 12, -1])
// After:  y = Reshape(x, [0, 12, -1])
// Whatever gives a tensor another shape first, the last one decides; what gives it back the shape
// that it had goes with it, and a Flatten of rows that are flat.
#include <algorithm>
#include <cstdint>

#include "onnx/graph/value.h"
#include "passes/rules/reshape/reshaping.h"
#include "passes/rules/reshape/rules.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

bool gives_a_shape(const Node* node) {
  return node != nullptr && (node->is(Op::kReshape) || node->is(Op::kFlatten) ||
                             node->is(Op::kSqueeze) || node->is(Op::kUnsqueeze));
}

// Rows that it leaves as they are.
bool is_flat(const Node* flatten) {
  const ValueInfo* x = flatten->input(0);
  if (x == nullptr || !x->has_rank || x->shape.size() != 2) return false;
  const std::int64_t axis = flatten->int_or("axis", 1);
  return axis == 1 || axis == -1;
}

bool join(Node* last, RuleContext& context) {
  ValueInfo* const y = last->output();
  const Node* first = last->input(0) == nullptr ? nullptr : last->input(0)->producer;
  if (y != nullptr && last->is(Op::kFlatten) && is_flat(last)) {
    Patch patch(context, last);
    patch.replace(y, last->input(0));
    return patch.apply();
  }
  if (y == nullptr || !gives_a_shape(first)) return false;
  ValueInfo* const x = first->input(0);
  if (!has_known_sizes(x) || !has_known_sizes(y))
    return context.decline(last, "a size before or behind it is not known");
  const bool undone = std::ranges::equal(x->shape, y->shape);
  if (!undone && !used_once(first->output()))
    return context.decline(last, "something else reads the shape between");

  Patch patch(context, last);
  ValueInfo* const made = reshaped(patch, x, y->shape, y->name);
  // No more nodes than there were.
  if (made == nullptr || (made != x && made->producer->input(1)->constant == nullptr))
    return context.decline(last, "the shape has to be put together");
  patch.replace(y, made);
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kReshape};
constexpr Op kOthers[] = {Op::kFlatten, Op::kSqueeze, Op::kUnsqueeze};

}  // namespace

// Since opset 13 Unsqueeze and its like take axes as an input.
const Rule kMergeReshapes = {"merge-reshapes", kRoots, join, 13};
// At the end: rules look for axes that are added and taken away.
const Rule kMergeViews = {"merge-views", kOthers, join, 13};

}  // namespace sardonyx::passes
