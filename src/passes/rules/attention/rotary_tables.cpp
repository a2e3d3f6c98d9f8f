#include "passes/rules/attention/rotary_tables.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "onnx/gen/op.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {

using onnx::Node;
using onnx::Op;
using onnx::Tensor;
using onnx::ValueInfo;
using rewriting::made_by;
using rewriting::Patch;
using rewriting::RuleContext;

namespace {

// A table of positions is looked at element by element.
constexpr std::int64_t kMaxElements = std::int64_t{1} << 25;

// None of the axes is the last of `rank`.
bool before_last(const ValueInfo* axes, std::size_t rank) {
  const auto list =
      axes == nullptr || axes->constant == nullptr ? std::nullopt : axes->constant->ints();
  const auto last = static_cast<std::int64_t>(rank) - 1;
  return list && std::ranges::all_of(*list, [last](std::int64_t axis) {
           return axis < 0 ? axis < -1 : axis < last;
         });
}

bool angles_stand_twice(const Tensor& table, bool interleaved) {
  const auto size = static_cast<std::size_t>(table.dims.back());
  if (size % 2 != 0 || table.element_count() > kMaxElements) return false;
  const auto elements = table.reals();
  if (!elements) return false;
  const std::size_t step = interleaved ? 2 : 1, apart = interleaved ? 1 : size / 2;
  for (std::size_t row = 0; row < elements->size(); row += size)
    for (std::size_t i = 0; i < size / 2; ++i) {
      const std::size_t at = row + i * step;
      if ((*elements)[at] != (*elements)[at + apart]) return false;
    }
  return true;
}

// The same bytes, of which each row reads the first half, or every other element.
Tensor half_of(Tensor table, bool interleaved) {
  if (table.contiguous()) {
    table.strides.assign(table.dims.size(), 1);
    for (std::size_t i = table.dims.size() - 1; i > 0; --i)
      table.strides[i - 1] = table.strides[i] * table.dims[i];
  }
  table.dims.back() /= 2;
  if (interleaved) table.strides.back() *= 2;
  return table;
}

ValueInfo* half_of_weight(ValueInfo* table, bool interleaved, Patch& patch,
                          const RuleContext& context) {
  const Tensor& whole = *table->constant;
  if (!context.may_change_weights() || whole.dims.empty() || whole.data == nullptr ||
      whole.recipe != nullptr || whole.dims.back() == 0 || table->is_pinned)
    return nullptr;
  const Tensor half = half_of(whole, interleaved);
  // That of another layer.
  for (ValueInfo* each : context.model().initializers)
    if (each->constant != nullptr && each->constant->data == half.data &&
        each->constant->dims == half.dims && each->constant->strides == half.strides)
      return each;
  if (!angles_stand_twice(whole, interleaved)) return nullptr;
  if (table->is_weight) patch.fold_in(table);
  return patch.weight(table->name + "_half", half);
}

// A node that reads `half` as this one reads the whole.
ValueInfo* same_of_half(ValueInfo* half, const Node* node, const Node* position) {
  for (const onnx::Use& use : half->uses) {
    const Node* other = use.node;
    if (use.index != 0 || !other->is(node->op) || other->inputs.size() != node->inputs.size() ||
        !std::equal(node->inputs.begin() + 1, node->inputs.end(), other->inputs.begin() + 1) ||
        other->int_or("axis", 0) != node->int_or("axis", 0) ||
        other->int_or("to", 0) != node->int_or("to", 0))
      continue;
    if (onnx::is_visible(other->output(), position)) return other->output();
  }
  return nullptr;
}

// The node that adds an axis of 1 to what stands twice along it in `stacked`; null where none does.
const Node* behind_pairs(const ValueInfo* stacked) {
  const Node* node = stacked == nullptr ? nullptr : stacked->producer;
  if (node == nullptr || !stacked->has_rank || stacked->shape.empty() ||
      !stacked->shape.back().is(2))
    return nullptr;
  const auto rank = static_cast<std::int64_t>(stacked->shape.size());
  const std::int64_t axis = node->int_or("axis", 0);
  const bool stacks = node->is(Op::kConcat) && node->inputs.size() == 2 &&
                      node->input(0) == node->input(1) && (axis == -1 || axis == rank - 1);
  const Node* unsqueeze = made_by(node->input(0), Op::kUnsqueeze);
  if ((!stacks && !node->is(Op::kExpand)) || unsqueeze == nullptr) return nullptr;
  const ValueInfo* alone = unsqueeze->output();
  const bool same =
      alone->has_rank && alone->shape.size() == stacked->shape.size() &&
      alone->shape.back().is(1) &&
      std::equal(alone->shape.begin(), alone->shape.end() - 1, stacked->shape.begin());
  return same ? unsqueeze : nullptr;
}

// What stands twice, each beside itself, in the last axis; null where nothing does.
ValueInfo* unpaired(const ValueInfo* value, Patch& patch, const Node* position) {
  const Node* reshape = made_by(value, Op::kReshape);
  const Node* unsqueeze = reshape == nullptr ? nullptr : behind_pairs(reshape->input(0));
  if (unsqueeze == nullptr || !value->has_rank || unsqueeze->input(1) == nullptr ||
      unsqueeze->input(1)->constant == nullptr)
    return nullptr;
  const onnx::Shape &alone = unsqueeze->output()->shape, &joined = value->shape;
  const std::size_t rank = joined.size();
  const bool joins = rank + 1 == alone.size() && rank > 0 &&
                     std::equal(joined.begin(), joined.end() - 1, alone.begin()) &&
                     joined[rank - 1] == alone[rank - 1] * symbolic::Expr(2);
  auto axes = unsqueeze->input(1)->constant->ints();
  if (!joins || !axes) return nullptr;
  for (std::int64_t& axis : *axes)
    if (axis < 0) axis += static_cast<std::int64_t>(alone.size());
  if (std::erase(*axes, static_cast<std::int64_t>(rank)) != 1) return nullptr;
  if (axes->empty()) return unsqueeze->input(0);
  return with_axes(Op::kUnsqueeze, unsqueeze->input(0), *std::move(axes), patch, position);
}

}  // namespace

ValueInfo* with_axes(Op op, ValueInfo* value, std::vector<std::int64_t> axes, Patch& patch,
                     const Node* position) {
  ValueInfo* const places = patch.ints(std::move(axes));
  for (const onnx::Use& use : value->uses)
    if (use.index == 0 && use.node->is(op) && use.node->input(1) == places &&
        onnx::is_visible(use.node->output(), position))
      return use.node->output();
  return patch.node(op, {value, places}, {}, value->name);
}

ValueInfo* repeated(const ValueInfo* value) {
  const Node* concat = made_by(value, Op::kConcat);
  if (concat == nullptr || concat->inputs.size() != 2 || concat->input(0) != concat->input(1) ||
      !value->has_rank)
    return nullptr;
  const std::int64_t axis = concat->int_or("axis", 0);
  const bool last = axis == -1 || axis == static_cast<std::int64_t>(value->shape.size()) - 1;
  return last ? concat->input(0) : nullptr;
}

bool keeps_last_axis(const Node* node) {
  const ValueInfo *x = node->input(0), *y = node->output();
  if (x == nullptr || y == nullptr || !x->has_rank || !y->has_rank || x->shape.empty())
    return false;
  switch (node->op) {
    case Op::kCos:
    case Op::kSin:
    case Op::kCast:
      return true;
    case Op::kUnsqueeze:
      return before_last(node->input(1), y->shape.size());
    case Op::kSqueeze:
      return before_last(node->input(1), x->shape.size());
    case Op::kSlice:
      return before_last(node->input(3), x->shape.size());
    case Op::kGather:
      return node->int_or("axis", 0) == 0 && x->shape.size() > 1;
    default:
      return false;
  }
}

ValueInfo* half_of(ValueInfo* table, bool interleaved, Patch& patch, const Node* position,
                   const RuleContext& context) {
  if (table == nullptr) return nullptr;
  ValueInfo* const once = interleaved ? unpaired(table, patch, position) : repeated(table);
  if (once != nullptr) return once;
  if (table->constant != nullptr) return half_of_weight(table, interleaved, patch, context);
  const Node* node = table->producer;
  if (node == nullptr || !keeps_last_axis(node)) return nullptr;
  ValueInfo* const half = half_of(node->input(0), interleaved, patch, position, context);
  if (half == nullptr) return nullptr;
  if (ValueInfo* same = same_of_half(half, node, position)) return same;
  std::vector<ValueInfo*> inputs = node->inputs;
  inputs[0] = half;
  return patch.node(node->op, std::move(inputs), node->attributes, table->name + "_half");
}

}  // namespace sardonyx::passes
