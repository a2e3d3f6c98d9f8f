// Before: a = Slice(x, [0], [8], [3]); b = Slice(x, [8], [16], [3]), x being 16 wide there
// After:  a, b = Split<axis=3>(x, [8, 8])
// Rotary embeddings, gates and fused projections take their parts so.
#include <algorithm>
#include <optional>

#include "onnx/graph/value.h"
#include "passes/rules/shapes/rules.h"
#include "rewriting/patch.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::Value;
using onnx::ValueInfo;

// A Slice of one static axis by constants with step 1.
struct Part {
  Node* node;
  std::int64_t axis, start, end;
};

std::optional<std::int64_t> number(const Node* node, std::size_t input) {
  ValueInfo* value = node->input(input);
  if (value == nullptr || value->constant == nullptr) return std::nullopt;
  const auto ints = Value(value).ints();
  if (!ints || ints->size() != 1) return std::nullopt;
  return ints->front();
}

std::optional<Part> part_of(Node* node) {
  if (!node->is(Op::kSlice) || node->output() == nullptr) return std::nullopt;
  const ValueInfo* x = node->input(0);
  const auto start = number(node, 1), end = number(node, 2), axis = number(node, 3);
  if (!start || !end || !axis || x == nullptr || !x->has_rank) return std::nullopt;
  if (node->input(4) != nullptr && number(node, 4) != 1) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(x->shape.size());
  const std::int64_t along = *axis < 0 ? *axis + rank : *axis;
  if (along < 0 || along >= rank) return std::nullopt;
  const symbolic::Expr dim = x->shape[static_cast<std::size_t>(along)];
  if (!dim.known() || !dim.is_constant()) return std::nullopt;
  const std::int64_t size = dim.value();
  const auto place = [size](std::int64_t at) {
    return std::clamp(at < 0 ? at + size : at, std::int64_t{0}, size);
  };
  return Part{node, along, place(*start), place(*end)};
}

// All parts of x along the axis, in order, when they lie side by side over the whole of it.
std::vector<Part> parts_beside(const Part& first, std::int64_t size) {
  std::vector<Part> parts;
  for (const onnx::Use& use : first.node->input(0)->uses) {
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
  return at == size && parts.size() > 1 ? parts : std::vector<Part>{};
}

bool split(Node* node, RuleContext& context) {
  const auto first = part_of(node);
  if (!first) return false;
  ValueInfo* const x = node->input(0);
  const std::vector<Part> parts =
      parts_beside(*first, x->shape[static_cast<std::size_t>(first->axis)].value());
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

// Split takes the lengths as an input since opset 13.
const Rule kSplitSlices = {"split-slices", kRoots, split, 13};

}  // namespace sardonyx::passes
