// Before: y = Slice(Slice(x, [0], [max], [1], [2]), [1], [max], [2], [2])
// After:  y = Slice(x, [0, 1], [max, max], [1, 2], [2, 2])
// So, too, along one axis, where the second counts among what the first has taken. What several
// Slices read goes with the last of them: patches of images are merged so.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "passes/rules/indexing/rules.h"
#include "passes/rules/indexing/slice_ranges.h"
#include "passes/rules/indexing/slices_to_split.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

// Beyond it places are not added up: they would not fit.
constexpr std::int64_t kFarthest = std::int64_t{1} << 31;

bool is_place(std::int64_t at) { return at >= 0 && at <= kFarthest; }

// `second` counts among what `first` takes of an axis whose size may not be known.
std::optional<SliceRange> one_after_the_other(const SliceRange& first, SliceRange second,
                                              symbolic::Expr size) {
  if (size.known() && size.is_constant()) second = placed(second, length_of(first, size.value()));
  if (!is_place(first.start) || !is_place(second.start) || first.step > kFarthest ||
      second.step > kFarthest)
    return std::nullopt;
  SliceRange range{first.axis, first.start + first.step * second.start, first.end,
                   first.step * second.step};
  if (second.end == kToTheEnd) return range;
  // From the back of what reaches to the back.
  if (second.end < 0) {
    if (first.end != kToTheEnd || first.step != 1) return std::nullopt;
    range.end = second.end;
    return range;
  }
  if (first.end < 0 || !is_place(second.end)) return std::nullopt;
  range.end = std::min(first.end, first.start + first.step * second.end);
  return range;
}

// What the two take together; nothing where the places cannot be added up.
std::optional<std::vector<SliceRange>> joined(const Node* first, const Node* second) {
  const auto outer = slice_ranges_of(first), inner = slice_ranges_of(second);
  if (!outer || !inner) return std::nullopt;
  std::vector<SliceRange> ranges = *outer;
  for (const SliceRange& range : *inner) {
    const auto same = std::ranges::find(ranges, range.axis, &SliceRange::axis);
    if (same == ranges.end()) {
      ranges.push_back(range);
      continue;
    }
    const auto one = one_after_the_other(
        *same, range, first->input(0)->shape[static_cast<std::size_t>(range.axis)]);
    if (!one) return std::nullopt;
    *same = *one;
  }
  std::ranges::sort(ranges, {}, &SliceRange::axis);
  return ranges;
}

// Every reader of it will be joined, so that it goes.
bool is_read_by_slices_alone(const ValueInfo* part, const Node* first) {
  return part->returns.empty() && !part->is_pinned &&
         std::ranges::all_of(part->uses, [&](const onnx::Use& use) {
           return use.index == 0 && use.node->is(Op::kSlice) && use.node->graph == first->graph &&
                  joined(first, use.node);
         });
}

bool join(Node* second, RuleContext& context) {
  Node* const first = made_by(second->input(0), Op::kSlice);
  if (first == nullptr || first->graph != second->graph || second->output() == nullptr)
    return false;
  const auto ranges = joined(first, second);
  if (!ranges) return context.decline(second, "where the two begin and end is not known");
  if (!is_read_by_slices_alone(first->output(), first))
    return context.decline(second, "something else reads what the first takes");
  if (is_part_of_split(first)) return context.decline(second, "the first is a part of a Split");

  ValueInfo* const y = second->output();
  Patch patch(context, second);
  std::vector<std::int64_t> starts, ends, axes, steps;
  for (const SliceRange& range : *ranges) {
    starts.push_back(range.start);
    ends.push_back(range.end);
    axes.push_back(range.axis);
    steps.push_back(range.step);
  }
  std::vector<ValueInfo*> inputs{first->input(0), patch.ints(starts), patch.ints(ends),
                                 patch.ints(axes)};
  if (std::ranges::any_of(steps, [](std::int64_t step) { return step != 1; }))
    inputs.push_back(patch.ints(steps));
  patch.replace(y, patch.node(Op::kSlice, std::move(inputs), {}, y->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kSlice};

}  // namespace

// Before opset 10 the places were attributes.
const Rule kMergeSlices = {"merge-slices", kRoots, join, 10};

}  // namespace sardonyx::passes
