// Before: y = SequenceAt(SplitToSequence<axis>(x, 4), 1)    x is 8 wide there
// After:  y = Slice(x, [4], [8], [axis])
// torch.onnx writes chunk() and split() so where it does not optimize; what is left of it becomes a
// Split. Without `keepdims`, elements are gathered.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "passes/constant_ints.h"
#include "passes/rules/sequences/rules.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

struct Part {
  std::int64_t start, end;
};

// Part number `at` of an axis of this size (-1: not known); nothing where there is none for sure.
std::optional<Part> part_of(const Node* split, std::int64_t at, std::int64_t size) {
  const ValueInfo* given = split->input(1);
  std::vector<std::int64_t> sizes;
  if (given != nullptr && given->has_rank && given->shape.size() == 1) {
    const auto each = constant_ints(given);
    if (!each) return std::nullopt;
    sizes = *each;
  } else {
    const auto each =
        given == nullptr ? std::optional(std::vector<std::int64_t>{1}) : constant_ints(given);
    if (!each || each->size() != 1 || each->front() <= 0 || size < 0) return std::nullopt;
    for (std::int64_t begin = 0; begin < size; begin += each->front())
      sizes.push_back(std::min(each->front(), size - begin));
  }
  if (at < 0) at += static_cast<std::int64_t>(sizes.size());
  if (at < 0 || at >= static_cast<std::int64_t>(sizes.size())) return std::nullopt;
  Part part{0, 0};
  for (std::int64_t i = 0; i <= at; ++i) {
    part.start = part.end;
    part.end += sizes[static_cast<std::size_t>(i)];
  }
  return part;
}

bool take(Node* node, RuleContext& context) {
  const Node* split = made_by(node->input(0), Op::kSplitToSequence);
  const auto at = known_int(node->input(1));
  if (split == nullptr || !at) return false;
  ValueInfo* const x = split->input(0);
  if (!x->has_rank) return context.decline(node, "it is not known how many axes are split");
  const auto rank = static_cast<std::int64_t>(x->shape.size());
  std::int64_t axis = split->int_or("axis", 0);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return false;
  const symbolic::Expr size = x->shape[static_cast<std::size_t>(axis)];
  const auto part = part_of(split, *at, size.known() && size.is_constant() ? size.value() : -1);
  if (!part) return context.decline(node, "it is not known where the part lies");
  const bool squeezed = split->input(1) == nullptr && split->int_or("keepdims", 1) == 0;
  const std::string& name = node->output()->name;
  Patch patch(context, node);
  patch.replace(
      node->output(),
      squeezed
          ? patch.node(Op::kGather, {x, patch.constant(onnx::Tensor::of_int(part->start))},
                       {{"axis", axis, {}}}, name)
          : patch.node(Op::kSlice,
                       {x, patch.ints({part->start}), patch.ints({part->end}), patch.ints({axis})},
                       {}, name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kSequenceAt};

}  // namespace

const Rule kSequenceAtOfSplit = {"sequence-at-of-split", kRoots, take, 11};

}  // namespace sardonyx::passes
