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
constexpr std::int64_t kMostElements = std::int64_t{1} << 25;

// None of the axes is the last of `rank`.
bool before_last(const ValueInfo* axes, std::size_t rank) {
  const auto list =
      axes == nullptr || axes->constant == nullptr ? std::nullopt : axes->constant->ints();
  const auto last = static_cast<std::int64_t>(rank) - 1;
  return list && std::ranges::all_of(*list, [last](std::int64_t axis) {
           return axis < 0 ? axis < -1 : axis < last;
         });
}

bool halves_are_the_same(const Tensor& table) {
  const auto size = static_cast<std::size_t>(table.dims.back());
  if (size % 2 != 0 || table.element_count() > kMostElements) return false;
  const auto elements = table.reals();
  if (!elements) return false;
  for (std::size_t row = 0; row < elements->size(); row += size) {
    const auto at = elements->begin() + static_cast<std::ptrdiff_t>(row);
    const auto middle = at + static_cast<std::ptrdiff_t>(size / 2);
    if (!std::equal(at, middle, middle)) return false;
  }
  return true;
}

// The same bytes, of which each row reads the first half.
Tensor first_half(Tensor table) {
  if (table.contiguous()) {
    table.strides.assign(table.dims.size(), 1);
    for (std::size_t i = table.dims.size() - 1; i > 0; --i)
      table.strides[i - 1] = table.strides[i] * table.dims[i];
  }
  table.dims.back() /= 2;
  return table;
}

ValueInfo* half_of_weight(ValueInfo* table, Patch& patch, const RuleContext& context) {
  const Tensor& whole = *table->constant;
  if (!context.may_change_weights() || whole.dims.empty() || whole.data == nullptr ||
      whole.recipe != nullptr || whole.dims.back() == 0 || table->is_pinned)
    return nullptr;
  const Tensor half = first_half(whole);
  // That of another layer.
  for (ValueInfo* each : context.model().initializers)
    if (each->constant != nullptr && each->constant->data == half.data &&
        each->constant->dims == half.dims && each->constant->strides == half.strides)
      return each;
  if (!halves_are_the_same(whole)) return nullptr;
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

}  // namespace

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

ValueInfo* half_of(ValueInfo* table, Patch& patch, const Node* position,
                   const RuleContext& context) {
  if (table == nullptr) return nullptr;
  if (ValueInfo* half = repeated(table)) return half;
  if (table->constant != nullptr) return half_of_weight(table, patch, context);
  const Node* node = table->producer;
  if (node == nullptr || !keeps_last_axis(node)) return nullptr;
  ValueInfo* const half = half_of(node->input(0), patch, position, context);
  if (half == nullptr) return nullptr;
  if (ValueInfo* same = same_of_half(half, node, position)) return same;
  std::vector<ValueInfo*> inputs = node->inputs;
  inputs[0] = half;
  return patch.node(node->op, std::move(inputs), node->attributes, table->name + "_half");
}

}  // namespace sardonyx::passes
