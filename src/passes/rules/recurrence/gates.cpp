#include "passes/rules/recurrence/gates.h"

#include <algorithm>
#include <utility>

#include "onnx/gen/op.h"
#include "passes/constant_ints.h"
#include "passes/rules/indexing/slice_ranges.h"
#include "rewriting/pattern.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;
using rewriting::made_by;

bool is_last_axis(std::int64_t axis, const ValueInfo* value) {
  return value->has_rank && (axis == -1 || axis + 1 == std::ssize(value->shape));
}

// Where the parts of a Split along the last axis begin.
std::optional<std::int64_t> start_of_part(const ValueInfo* part) {
  const Node* split = part->producer;
  if (!is_last_axis(split->int_or("axis", 0), split->input(0))) return std::nullopt;
  std::int64_t start = 0;
  for (std::uint32_t i = 0; i < part->index; ++i) {
    const ValueInfo* each = split->output(i);
    const std::int64_t width = each == nullptr ? 0 : width_of(each);
    if (width == 0) return std::nullopt;
    start += width;
  }
  return start;
}

std::optional<std::int64_t> start_of_slice(const Node* slice) {
  const auto ranges = slice_ranges_of(slice);
  if (!ranges || ranges->size() != 1 || ranges->front().step != 1 ||
      width_of(slice->input(0)) == 0 || !is_last_axis(ranges->front().axis, slice->input(0)))
    return std::nullopt;
  return ranges->front().start;
}

// One number for each column, in every row.
bool is_row(const ValueInfo* value) {
  if (!value->has_rank || value->shape.empty() || value->shape.size() > 2) return false;
  return value->shape.size() == 1 || value->shape.front().is(1);
}

Range part(Range of, Range columns) { return {of.start + columns.start, columns.size}; }

}  // namespace

std::int64_t width_of(const ValueInfo* value) {
  if (!value->has_rank || value->shape.empty()) return 0;
  return value->shape.back().constant().value_or(0);
}

const ValueInfo* before(const ValueInfo* value, Op activation) {
  const Node* node = made_by(without_identity(value), activation);
  return node == nullptr ? nullptr : without_identity(node->input(0));
}

std::optional<Gate> GateReader::read(const ValueInfo* value) {
  gate_ = {};
  hidden_is_inner_ = false;
  if (!add(value, {0, size_}, /*inner=*/false)) return std::nullopt;
  if (gate_.input.weight == nullptr || gate_.hidden.weight == nullptr ||
      hidden_is_inner_ != gate_.reset_after)
    return std::nullopt;
  return std::move(gate_);
}

bool GateReader::add(const ValueInfo* value, Range columns, bool inner) {
  value = without_identity(value);
  // Of a weight, other data may come.
  if (const auto number = value->is_weight ? std::nullopt : rewriting::number_of(value)) {
    (inner ? gate_.inner : gate_.summands).push_back({nullptr, {}, *number});
    return true;
  }
  // What is narrower is repeated along the rows, and what is not known may be.
  if (width_of(value) < columns.start + columns.size) return false;
  if (loop_.is_outside(value)) return add_outside(const_cast<ValueInfo*>(value), columns, inner);
  if (const auto steps = loop_.steps_of(value)) return !inner && add_precomputed(*steps, columns);
  const Node* node = value->producer;
  if (node == nullptr || !node->domain.empty()) return false;
  switch (node->op) {
    case Op::kAdd:
    case Op::kSum:
      return std::ranges::all_of(node->inputs,
                                 [&](const ValueInfo* each) { return add(each, columns, inner); });
    case Op::kSplit: {
      const auto start = start_of_part(value);
      return start && add(node->input(0), part({*start, 0}, columns), inner);
    }
    case Op::kSlice: {
      const auto start = start_of_slice(node);
      return start && add(node->input(0), part({*start, 0}, columns), inner);
    }
    case Op::kMatMul:
      return add_product(node->input(0), {node->input(1), false, {0, 0}, columns}, inner);
    case Op::kGemm:
      if (node->float_or("alpha", 1) != 1 || node->float_or("beta", 1) != 1 ||
          node->int_or("transA", 0) != 0)
        return false;
      return add_product(node->input(0),
                         {node->input(1), node->int_or("transB", 0) != 0, {0, 0}, columns},
                         inner) &&
             (node->input(2) == nullptr || add(node->input(2), columns, inner));
    case Op::kMul:
      return !inner && add_reset(node, columns);
    default:
      return false;
  }
}

bool GateReader::add_outside(ValueInfo* value, Range columns, bool inner) {
  if (!is_row(value)) return false;
  (inner ? gate_.inner : gate_.summands).push_back({value, columns, 0});
  return true;
}

bool GateReader::add_product(const ValueInfo* factor, Factor weight, bool inner) {
  factor = without_identity(factor);
  if (!loop_.is_outside(weight.weight) || !weight.weight->has_rank ||
      weight.weight->shape.size() != 2 || width_of(factor) == 0)
    return false;
  if (weight.rows.size == 0) weight.rows = {0, width_of(factor)};
  if (const Node* join = made_by(factor, Op::kConcat)) {
    if (!is_last_axis(join->int_or("axis", 0), factor)) return false;
    std::int64_t start = weight.rows.start;
    return std::ranges::all_of(join->inputs, [&](const ValueInfo* each) {
      Factor own = weight;
      own.rows = {start, width_of(each)};
      start += own.rows.size;
      return add_product(each, own, inner);
    });
  }
  Factor* place = &gate_.hidden;
  if (const auto steps = loop_.steps_of(factor)) {
    if (inner || !take_input(*steps)) return false;
    place = &gate_.input;
  } else if (factor != hidden_) {
    // The state that the reset gate has let through.
    const Node* product = made_by(factor, Op::kMul);
    if (product == nullptr || inner || gate_.reset != nullptr) return false;
    for (const std::size_t i : {0U, 1U})
      if (without_identity(product->input(1 - i)) == hidden_ && gate_.reset == nullptr)
        gate_.reset = before(product->input(i), Op::kSigmoid);
    if (gate_.reset == nullptr || width_of(gate_.reset) != size_) return false;
  }
  if (place->weight != nullptr) return false;
  *place = weight;
  if (place == &gate_.hidden) hidden_is_inner_ = inner;
  return true;
}

// A product of the whole sequence, made before the loop.
bool GateReader::add_precomputed(const Steps& steps, Range columns) {
  const Node* node = steps.sequence->producer;
  if (node != nullptr && node->is(Op::kAdd)) {
    for (const std::size_t i : {0U, 1U}) {
      ValueInfo *product = node->input(i), *row = node->input(1 - i);
      if (made_by(product, Op::kMatMul) == nullptr || !row->has_rank || row->shape.size() != 1 ||
          width_of(row) < columns.start + columns.size)
        continue;
      return add_precomputed({product, steps.axis, steps.backwards}, columns) &&
             add_outside(row, columns, /*inner=*/false);
    }
    return false;
  }
  if (node == nullptr || !node->is(Op::kMatMul)) return false;
  ValueInfo *sequence = node->input(0), *weight = node->input(1);
  if (!sequence->has_rank || sequence->shape.size() != 3 || !weight->has_rank ||
      weight->shape.size() != 2 || steps.axis == 2 || gate_.input.weight != nullptr ||
      width_of(sequence) == 0 || !take_input({sequence, steps.axis, steps.backwards}))
    return false;
  gate_.input = {weight, false, {0, width_of(sequence)}, columns};
  return true;
}

// r * (h R + b)
bool GateReader::add_reset(const Node* product, Range columns) {
  if (gate_.reset != nullptr || columns.start != 0) return false;
  for (const std::size_t i : {0U, 1U}) {
    const ValueInfo* reset = before(product->input(i), Op::kSigmoid);
    if (reset == nullptr || width_of(reset) != size_) continue;
    gate_.reset = reset;
    gate_.reset_after = true;
    return add(product->input(1 - i), columns, /*inner=*/true);
  }
  return false;
}

bool GateReader::take_input(const Steps& steps) {
  if (!input_) input_ = steps;
  return *input_ == steps;
}

}  // namespace sardonyx::passes
