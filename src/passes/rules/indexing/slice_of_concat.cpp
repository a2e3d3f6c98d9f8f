// Before: y = Slice(Concat<axis = 3>(a, b), [0], [4], [3]), a being 4 wide there
// After:  y = a
// A part of one of those that are put side by side is taken from that one.
#include <cstdint>
#include <vector>

#include "passes/rules/indexing/rules.h"
#include "passes/rules/indexing/slice_ranges.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

bool take(Node* slice, RuleContext& context) {
  const Node* concat = made_by(slice->input(0), Op::kConcat);
  const auto ranges = concat == nullptr ? std::nullopt : slice_ranges_of(slice);
  const ValueInfo* whole = slice->input(0);
  if (!ranges || ranges->size() != 1 || !whole->has_rank || slice->output() == nullptr)
    return false;
  SliceRange range = ranges->front();
  const std::int64_t axis = concat->int_or("axis", 0);
  if (range.axis != (axis < 0 ? axis + static_cast<std::int64_t>(whole->shape.size()) : axis) ||
      range.start < 0 || range.end < 0)
    return false;
  const auto along = static_cast<std::size_t>(range.axis);
  for (ValueInfo* part : concat->inputs) {
    if (!part->has_rank || part->shape.size() != whole->shape.size() ||
        !part->shape[along].is_constant())
      return false;
    const std::int64_t size = part->shape[along].value();
    if (range.start < size) {
      if (range.end > size) return false;
      Patch patch(context, slice);
      ValueInfo* const y = slice->output();
      const bool is_all = range.start == 0 && range.end == size && range.step == 1;
      std::vector<ValueInfo*> inputs{part, patch.ints({range.start}), patch.ints({range.end}),
                                     patch.ints({range.axis})};
      if (range.step != 1) inputs.push_back(patch.ints({range.step}));
      patch.replace(y, is_all ? part : patch.node(Op::kSlice, std::move(inputs), {}, y->name));
      return patch.apply();
    }
    range.start -= size;
    range.end -= size;
  }
  return false;
}

constexpr Op kRoots[] = {Op::kSlice};

}  // namespace

// Before opset 10 the places were attributes.
const Rule kSliceOfConcat = {"slice-of-concat", kRoots, take, 10};

}  // namespace sardonyx::passes
