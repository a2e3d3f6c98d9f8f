// Before: a = Slice(x, [0], [8], [3]); b = Slice(x, [8], [16], [3]), x being 16 wide there
// After:  a, b = Split<axis=3>(x, [8, 8])
// Rotary embeddings, gates and fused projections take their parts so.
#include "passes/rules/indexing/slices_to_split.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "passes/rules/indexing/rules.h"
#include "passes/rules/indexing/slice_ranges.h"
#include "rewriting/patch.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

// A Slice of one static axis by constants with step 1.
struct Part {
  Node* node;
  std::int64_t axis, start, end;
};

std::optional<Part> part_of(Node* node) {
  if (!node->is(Op::kSlice) || node->output() == nullptr) return std::nullopt;
  const auto ranges = slice_ranges_of(node);
  if (!ranges || ranges->size() != 1 || ranges->front().step != 1) return std::nullopt;
  const SliceRange& range = ranges->front();
  const symbolic::Expr size = node->input(0)->shape[static_cast<std::size_t>(range.axis)];
  if (!size.known() || !size.is_constant()) return std::nullopt;
  return Part{node, range.axis, range.start, range.end};
}

// Whether only Slices read it, which can take their places from what it is a part of.
bool is_sliced_again(const Part& part) {
  const ValueInfo* value = part.node->output();
  return value->returns.empty() && !value->is_pinned && !value->uses.empty() &&
         std::ranges::all_of(value->uses, [](const onnx::Use& use) {
           return use.index == 0 && use.node->is(Op::kSlice) && slice_ranges_of(use.node);
         });
}

// All parts of x along the axis, in order, when they lie side by side over the whole of it and a
// Split with what is sliced of it is no more than Slices of x alone.
std::vector<Part> parts_beside(const Part& first) {
  const ValueInfo* x = first.node->input(0);
  const std::int64_t size = x->shape[static_cast<std::size_t>(first.axis)].value();
  std::vector<Part> parts;
  for (const onnx::Use& use : x->uses) {
    if (use.index != 0 || use.node->graph != first.node->graph) continue;
    const auto part = part_of(use.node);
    if (part && part->axis == first.axis && part->end > part->start) parts.push_back(*part);
  }
  std::ranges::sort(parts, {}, &Part::start);
  std::int64_t at = 0;
  for (const Part& part : parts) {
    if (part.start != at) return {};
    at = part.end;
  }
  const auto left = std::ranges::count_if(parts, std::not_fn(is_sliced_again));
  return at == size && parts.size() > 1 && left > 0 ? parts : std::vector<Part>{};
}

bool split(Node* node, RuleContext& context) {
  const auto first = part_of(node);
  if (!first) return false;
  ValueInfo* const x = node->input(0);
  const std::vector<Part> parts = parts_beside(*first);
  if (parts.empty()) return false;
  std::vector<std::int64_t> sizes;
  for (const Part& part : parts) sizes.push_back(part.end - part.start);
  // In front of the first of them that is computed.
  Node* position = node;
  for (const Part& part : parts)
    if (onnx::precedes(part.node, position)) position = part.node;
  Patch patch(context, position);
  const std::vector<ValueInfo*> made =
      patch.nodes(Op::kSplit, {x, patch.ints(sizes)}, {{"axis", first->axis, {}}},
                  x->name + "_Split", parts.size());
  for (std::size_t i = 0; i < made.size(); ++i) patch.replace(parts[i].node->output(), made[i]);
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kSlice};

}  // namespace

bool is_part_of_split(Node* slice) {
  const auto part = part_of(slice);
  return part && !parts_beside(*part).empty();
}

// Split takes the lengths as an input since opset 13.
const Rule kSlicesToSplit = {"slices-to-split", kRoots, split, 13};

}  // namespace sardonyx::passes
