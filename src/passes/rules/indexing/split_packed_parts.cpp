// Before: t = Transpose<perm = [2, 0, 3, 1, 4]>(Reshape(x, [b, n, 3, h, d]))
//         q, k, v = Gather(t, 0), Gather(t, 1), Gather(t, 2)
//         y = Attention(q, k, v)
// After:  p, r, s = Split<axis = -1>(x)
//         y = Attention(heads(p), heads(r), heads(s))
//         heads(x) = Transpose<[0, 2, 1, 3]>(Reshape(x, [b, n, h, d]))
// The result of a packed projection is split where its parts lie side by side; heads of that layout
// are merged into Attention (merge-attention-heads). Parts that only lose an axis need no Attention
// as their reader.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "passes/constant_ints.h"
#include "passes/rules/indexing/rules.h"
#include "passes/rules/reshape/reshaping.h"
#include "passes/transposition/transpose_sinking.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::Shape;
using onnx::ValueInfo;

// One element of an axis, which goes.
struct Part {
  ValueInfo* of;     // what is split
  ValueInfo* value;  // the element
  std::int64_t axis, place;
};

std::int64_t counted(std::int64_t axis, const ValueInfo* value) {
  return axis < 0 ? axis + static_cast<std::int64_t>(value->shape.size()) : axis;
}

// Of a Gather by one number, or a Squeeze of what a Split into single elements gives.
std::optional<Part> part_of(const Node* node) {
  ValueInfo* const x = node->input(0);
  if (x == nullptr || !x->has_rank || node->output() == nullptr) return std::nullopt;
  if (node->is(Op::kGather)) {
    const ValueInfo* place = node->input(1);
    const auto number = known_int(place);
    if (!number || !place->has_rank || !place->shape.empty()) return std::nullopt;
    return Part{x, node->output(), counted(node->int_or("axis", 0), x), *number};
  }
  const Node* split = made_by(x, Op::kSplit);
  if (!node->is(Op::kSqueeze) || split == nullptr || !split->input(0)->has_rank)
    return std::nullopt;
  const std::int64_t axis = counted(split->int_or("axis", 0), split->input(0));
  const auto squeezed = known_int(node->input(1));
  if (!squeezed || counted(*squeezed, x) != axis || axis < 0 ||
      axis >= static_cast<std::int64_t>(x->shape.size()))
    return std::nullopt;
  std::int64_t place = -1;
  for (std::size_t i = 0; i < split->outputs.size(); ++i) {
    const ValueInfo* each = split->outputs[i];
    if (each == nullptr || !each->has_rank || !each->shape[static_cast<std::size_t>(axis)].is(1))
      return std::nullopt;
    if (each == x) place = static_cast<std::int64_t>(i);
  }
  return Part{split->input(0), node->output(), axis, place};
}

// All elements of the axis, in order, where nothing else reads what is split.
std::vector<Part> parts_with(const Part& first, std::int64_t count) {
  std::vector<Part> parts;
  const auto add = [&](const Node* reader) {
    auto part = part_of(reader);
    if (!part || part->of != first.of || part->axis != first.axis) return false;
    if (part->place < 0) part->place += count;
    parts.push_back(*part);
    return true;
  };
  if (!first.of->returns.empty()) return {};
  for (const onnx::Use& use : first.of->uses) {
    if (!use.node->is(Op::kSplit)) {
      if (use.index != 0 || !add(use.node)) return {};
      continue;
    }
    for (const ValueInfo* output : use.node->outputs) {
      if (output == nullptr || !output->returns.empty()) return {};
      for (const onnx::Use& inner : output->uses)
        if (inner.index != 0 || !add(inner.node)) return {};
    }
  }
  std::ranges::sort(parts, {}, &Part::place);
  if (static_cast<std::int64_t>(parts.size()) != count) return {};
  for (std::int64_t i = 0; i < count; ++i)
    if (parts[static_cast<std::size_t>(i)].place != i) return {};
  return parts;
}

// x of which a Reshape makes several axes of the last, the first of which is the parts'.
struct Packed {
  ValueInfo* x;
  Shape shape;  // of one part, as it lies
  Perm perm;    // of its axes
  std::int64_t width;
};

std::optional<Packed> packed(const Part& part) {
  const Node* node = part.of->producer;
  std::vector<std::int64_t> perm;
  if (const auto turned = perm_of(node)) {
    perm = *turned;
    node = node->input(0)->producer;
  } else {
    for (std::size_t i = 0; i < part.of->shape.size(); ++i)
      perm.push_back(static_cast<std::int64_t>(i));
  }
  if (node == nullptr || !node->is(Op::kReshape) || part.axis < 0 ||
      part.axis >= static_cast<std::int64_t>(perm.size()))
    return std::nullopt;
  ValueInfo *const x = node->input(0), *const split = node->output();
  if (!has_known_sizes(x) || !has_known_sizes(split) || x->shape.empty()) return std::nullopt;
  const std::size_t last = x->shape.size() - 1;
  const std::int64_t axis = perm[static_cast<std::size_t>(part.axis)];
  if (axis != static_cast<std::int64_t>(last) || split->shape.size() < last + 2)
    return std::nullopt;
  for (std::size_t i = 0; i < last; ++i)
    if (!(x->shape[i] == split->shape[i])) return std::nullopt;
  Packed found{x, split->shape, {}, 1};
  found.shape.erase(found.shape.begin() + static_cast<std::ptrdiff_t>(last));
  for (std::size_t i = last; i < found.shape.size(); ++i) {
    if (!found.shape[i].is_constant()) return std::nullopt;
    if (__builtin_mul_overflow(found.width, found.shape[i].value(), &found.width))
      return std::nullopt;
  }
  for (const std::int64_t each : perm)
    if (each != axis) found.perm.push_back(each > axis ? each - 1 : each);
  return found;
}

// Whether one Attention reads them as queries, keys and values, and nothing else does.
bool are_attended(const std::vector<Part>& parts) {
  if (parts.size() != 3) return false;
  const Node* attention = nullptr;
  for (const Part& part : parts) {
    if (!used_once(part.value)) return false;
    const onnx::Use& use = part.value->uses.front();
    if (!use.node->is(Op::kAttention) || use.index > 2) return false;
    if (attention != nullptr && use.node != attention) return false;
    attention = use.node;
  }
  return true;
}

bool split(Node* node, RuleContext& context) {
  const auto first = part_of(node);
  if (!first) return false;
  const auto from = packed(*first);
  if (!from) return false;
  const symbolic::Expr size = first->of->shape[static_cast<std::size_t>(first->axis)];
  if (!size.is_constant()) return false;
  const std::vector<Part> parts = parts_with(*first, size.value());
  if (parts.size() < 2) return false;
  const bool as_they_lie =
      from->shape.size() == from->x->shape.size() && changes_nothing(from->perm);
  if (!as_they_lie && !(from->perm == Perm{0, 2, 1, 3} && are_attended(parts)))
    return context.decline(node, "its parts would be put in order each for itself");
  Node* position = node;
  for (const Part& part : parts)
    if (onnx::precedes(part.value->producer, position)) position = part.value->producer;
  Patch patch(context, position);
  const std::vector<ValueInfo*> made = patch.nodes(
      Op::kSplit, {from->x, patch.ints(std::vector<std::int64_t>(parts.size(), from->width))},
      {{"axis", static_cast<std::int64_t>(from->x->shape.size()) - 1, {}}},
      from->x->name + "_Split", parts.size());
  for (std::size_t i = 0; i < made.size(); ++i) {  // none where the patch has failed
    ValueInfo* part = made[i];
    const std::string& name = parts[i].value->name;
    if (!as_they_lie && !patch.failed()) {
      ValueInfo* const apart = reshaped(patch, part, from->shape, name + "_heads");
      if (apart == nullptr) return context.decline(node, "a size would have to be computed");
      part = patch.node(Op::kTranspose, {apart}, {{"perm", from->perm, {}}}, name);
    }
    patch.replace(parts[i].value, part);
  }
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kGather, Op::kSqueeze};

}  // namespace

const Rule kSplitPackedParts = {"split-packed-parts", kRoots, split, 13};

}  // namespace sardonyx::passes
