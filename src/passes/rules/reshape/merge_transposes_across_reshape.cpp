// Before: y = Transpose<perm = [0, 2, 1, 3]>(Reshape(Transpose<perm = [1, 0, 2]>(x), [b, s, h, d]))
// After:  y = Transpose<perm = [1, 2, 0, 3]>(Reshape(x, [s, b, h, d]))
// Before: y = Transpose<perm = [1, 0, 2]>(Reshape(Transpose<perm = [0, 2, 1, 3]>(x), [b, s, h *
// d])) After:  y = Reshape(Transpose<perm = [2, 0, 1, 3]>(x), [s, b, h * d]) A Reshape that parts
// axes, or joins neighbors, changes nothing about where the others stand: two transpositions round
// it are one.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "onnx/graph/value.h"
#include "passes/rules/reshape/reshaping.h"
#include "passes/rules/reshape/rules.h"
#include "passes/transposition/transpose_sinking.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::Shape;
using onnx::ValueInfo;

// The places of the axes of each group, `counts` of them, one after the other.
std::vector<Perm> groups_of(const std::vector<std::size_t>& counts) {
  std::vector<Perm> groups;
  std::int64_t next = 0;
  for (const std::size_t count : counts) {
    groups.emplace_back();
    for (std::size_t i = 0; i < count; ++i) groups.back().push_back(next++);
  }
  return groups;
}

// Where each axis of what is transposed has gone.
Perm inverse(const Perm& perm) {
  Perm back(perm.size());
  for (std::size_t i = 0; i < perm.size(); ++i)
    back[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
  return back;
}

bool is_constant_reshape(const ValueInfo* made, const ValueInfo* x) {
  return made == x || made->producer->input(1)->constant != nullptr;
}

// Reshape first, then one transposition: what the first one moves as one are groups of axes now.
ValueInfo* parted_first(ValueInfo* x, const Perm& first, const Perm& second, const Node* reshape,
                        const Node* last, const std::vector<std::size_t>& counts, Patch& patch) {
  const std::vector<Perm> groups = groups_of(counts);
  const Shape& parted = reshape->output()->shape;
  Shape shape;
  Perm order;  // of the parted axes, as x has them
  for (const std::int64_t from : inverse(first))
    for (const std::int64_t axis : groups[static_cast<std::size_t>(from)]) {
      order.push_back(axis);
      shape.push_back(parted[static_cast<std::size_t>(axis)]);
    }
  ValueInfo* const made = reshaped(patch, x, shape, reshape->output()->name);
  if (made == nullptr || !is_constant_reshape(made, x)) return nullptr;
  return patch.node(Op::kTranspose, {made}, {{"perm", joined(inverse(order), second), {}}},
                    last->output()->name);
}

// One transposition, then Reshape: what the last one moves as one are groups of axes before.
ValueInfo* joined_last(ValueInfo* x, const Perm& first, const Perm& second, const Node* reshape,
                       const Node* last, const std::vector<std::size_t>& counts, Patch& patch) {
  const std::vector<Perm> groups = groups_of(counts);
  Perm order;
  for (const std::int64_t from : second)
    for (const std::int64_t axis : groups[static_cast<std::size_t>(from)])
      order.push_back(first[static_cast<std::size_t>(axis)]);
  ValueInfo* const turned =
      patch.node(Op::kTranspose, {x}, {{"perm", order, {}}}, reshape->output()->name);
  if (turned == nullptr) return nullptr;
  ValueInfo* const made = reshaped(patch, turned, last->output()->shape, last->output()->name);
  return made != nullptr && is_constant_reshape(made, turned) ? made : nullptr;
}

bool join(Node* last, RuleContext& context) {
  const auto second = perm_of(last);
  if (!second) return false;
  const Node* reshape = made_by(last->input(0), Op::kReshape);
  const Node* transpose = reshape == nullptr ? nullptr : made_by(reshape->input(0), Op::kTranspose);
  const auto first = perm_of(transpose);
  if (!first) return false;
  ValueInfo *const x = transpose->input(0), *const before = transpose->output(),
                   *const after = reshape->output();
  if (!has_known_sizes(x) || !has_known_sizes(before) || !has_known_sizes(after) ||
      !has_known_sizes(last->output()))
    return context.decline(last, "a size round the Reshape is not known");
  const auto parting = axes_in_each(before->shape, after->shape);
  const auto joining = parting ? std::nullopt : axes_in_each(after->shape, before->shape);
  if (!parting && !joining) return false;  // other axes are joined than were parted
  if (!used_once(after))
    return context.decline(last, "something else reads what is transposed again");
  Patch patch(context, last);
  ValueInfo* const made = parting ? parted_first(x, *first, *second, reshape, last, *parting, patch)
                                  : joined_last(x, *first, *second, reshape, last, *joining, patch);
  if (made == nullptr) return context.decline(last, "the shape has to be put together");
  patch.replace(last->output(), made);
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kTranspose};

}  // namespace

// Since opset 13 Unsqueeze and its like take axes as an input.
const Rule kMergeTransposesAcrossReshape = {"merge-transposes-across-reshape", kRoots, join, 13};

}  // namespace sardonyx::passes
