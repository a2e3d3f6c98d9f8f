#include "passes/rules/attention/rotations.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "onnx/gen/op.h"
#include "passes/rules/attention/heads.h"
#include "passes/rules/indexing/slice_ranges.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;
using rewriting::made_by;
using rewriting::used_once;

bool is_last(const Node* node, std::int64_t rank) {
  const std::int64_t axis = node->int_or("axis", 0);
  return axis == -1 || axis == rank - 1;
}

// The range of the last of x's four axes that the Slice takes, which has a constant size.
std::optional<SliceRange> slice_range_of(const ValueInfo* value, const ValueInfo* x) {
  const Node* slice = made_by(value, Op::kSlice);
  if (slice == nullptr || slice->input(0) != x) return std::nullopt;
  const auto ranges = slice_ranges_of(slice);
  if (!ranges || ranges->size() != 1 || ranges->front().axis != 3) return std::nullopt;
  return ranges->front();
}

// Whether it is this half of the last axis of x, which is `size` wide.
bool is_half(const ValueInfo* value, const ValueInfo* x, std::int64_t size, std::uint32_t which) {
  if (!is_known(value, 4) || !value->shape[3].is(size / 2)) return false;
  if (const Node* split = made_by(value, Op::kSplit))
    return split->input(0) == x && is_last(split, 4) && split->outputs.size() == 2 &&
           value->index == which;
  const auto range = slice_range_of(value, x);
  return range && range->step == 1 && range->start == (which == 0 ? 0 : size / 2);
}

// Whether it is the first or the second of each pair.
bool is_every_other(const ValueInfo* value, const ValueInfo* x, std::int64_t size,
                    std::int64_t first) {
  const auto range = slice_range_of(value, x);
  return range && range->step == 2 && range->start == first && length_of(*range, size) == size / 2;
}

// The two that the Concat puts side by side; nothing where it puts others.
struct Sides {
  const ValueInfo *negated = nullptr, *other = nullptr;
};

Sides sides_of(const Node* concat) {
  if (concat == nullptr || concat->inputs.size() != 2) return {};
  const ValueInfo *left = concat->input(0), *right = concat->input(1);
  const Node *first = made_by(left, Op::kUnsqueeze), *second = made_by(right, Op::kUnsqueeze);
  if (first != nullptr && second != nullptr) left = first->input(0), right = second->input(0);
  const Node* negated = made_by(left, Op::kNeg);
  return negated == nullptr ? Sides{} : Sides{negated->input(0), right};
}

// Of -odd and even with an axis of their own at the end, which is then joined to the one before.
const Node* stack_behind(const ValueInfo* value) {
  const Node* reshape = made_by(value, Op::kReshape);
  const Node* concat = reshape == nullptr ? nullptr : made_by(reshape->input(0), Op::kConcat);
  if (concat == nullptr || !used_once(concat->output()) || !is_known(concat->output(), 5) ||
      !is_last(concat, 5))
    return nullptr;
  const onnx::Shape &stacked = concat->output()->shape, &joined = value->shape;
  const bool joins = stacked[4].is(2) && std::equal(joined.begin(), joined.end() - 1,
                                                    stacked.begin(), stacked.end() - 2);
  return joins ? concat : nullptr;
}

struct Turned {
  ValueInfo* x;
  bool interleaved;
};

// x where the value is turn(x), of which nothing else needs to know.
std::optional<Turned> before_turn(const ValueInfo* value) {
  if (value == nullptr || !is_known(value, 4) || !used_once(value) ||
      !value->shape[3].is_constant())
    return std::nullopt;
  const Node* concat = made_by(value, Op::kConcat);
  const bool interleaved = concat == nullptr;
  if (interleaved) concat = stack_behind(value);
  const auto [negated, other] = sides_of(concat);
  if (negated == nullptr || negated->producer == nullptr || (!interleaved && !is_last(concat, 4)))
    return std::nullopt;
  ValueInfo* const x = negated->producer->input(0);
  const std::int64_t size = value->shape[3].value();
  if (size % 2 != 0 || !is_known(x, 4) || !(x->shape == value->shape)) return std::nullopt;
  const bool parts = interleaved
                         ? is_every_other(negated, x, size, 1) && is_every_other(other, x, size, 0)
                         : is_half(negated, x, size, 1) && is_half(other, x, size, 0);
  return parts ? std::optional(Turned{x, interleaved}) : std::nullopt;
}

// x where the value is its second half and then its first.
ValueInfo* before_swap(const ValueInfo* value) {
  const Node* concat = value == nullptr ? nullptr : made_by(value, Op::kConcat);
  if (concat == nullptr || concat->inputs.size() != 2 || !is_known(value, 4) || !used_once(value) ||
      !is_last(concat, 4) || !value->shape[3].is_constant())
    return nullptr;
  const Node* second = concat->input(0)->producer;
  ValueInfo* const x = second == nullptr ? nullptr : second->input(0);
  const std::int64_t size = value->shape[3].value();
  const bool swaps = x != nullptr && size % 2 == 0 && is_known(x, 4) && x->shape == value->shape &&
                     is_half(concat->input(0), x, size, 1) && is_half(concat->input(1), x, size, 0);
  return swaps ? x : nullptr;
}

// s of Concat(Neg(s), s) along the last axis; null for anything else.
ValueInfo* signed_half(const ValueInfo* table) {
  const Node* concat = table == nullptr ? nullptr : made_by(table, Op::kConcat);
  if (concat == nullptr || concat->inputs.size() != 2 || !table->has_rank ||
      !is_last(concat, static_cast<std::int64_t>(table->shape.size())))
    return nullptr;
  const Node* negated = made_by(concat->input(0), Op::kNeg);
  return negated != nullptr && negated->input(0) == concat->input(1) ? concat->input(1) : nullptr;
}

// One half of x, and what it is multiplied with.
struct Product {
  ValueInfo *x, *table;
};

std::optional<Product> product_of_half(const ValueInfo* value, std::uint32_t which) {
  const Node* product = made_by(value, Op::kMul);
  if (product == nullptr || !used_once(value)) return std::nullopt;
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    const ValueInfo* half = product->input(side);
    if (half == nullptr || half->producer == nullptr) continue;
    ValueInfo* const x = half->producer->input(0);
    if (x == nullptr || !is_known(x, 4) || !x->shape[3].is_constant()) continue;
    const std::int64_t size = x->shape[3].value();
    if (size % 2 == 0 && is_half(half, x, size, which)) return Product{x, product->input(1 - side)};
  }
  return std::nullopt;
}

std::optional<Rotation> rotation_by_halves(const Node* concat) {
  if (concat->inputs.size() != 2 || !is_known(concat->output(), 4) || !is_last(concat, 4))
    return std::nullopt;
  const Node *less = made_by(concat->input(0), Op::kSub),
             *sum = made_by(concat->input(1), Op::kAdd);
  if (less == nullptr || sum == nullptr || !used_once(less->output()) || !used_once(sum->output()))
    return std::nullopt;
  const auto cosine = product_of_half(less->input(0), 0), sine = product_of_half(less->input(1), 1);
  if (!cosine || !sine || cosine->x != sine->x) return std::nullopt;
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    const auto second = product_of_half(sum->input(side), 1),
               first = product_of_half(sum->input(1 - side), 0);
    if (second && first && second->x == cosine->x && first->x == cosine->x &&
        second->table == cosine->table && first->table == sine->table)
      return Rotation{cosine->x, cosine->table, sine->table, false, nullptr, /*by_halves=*/true};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Rotation> rotation_of(const Node* sum) {
  if (sum->is(Op::kConcat)) return rotation_by_halves(sum);
  const std::array<Node*, 2> products = {made_by(sum->input(0), Op::kMul),
                                         made_by(sum->input(1), Op::kMul)};
  if (products[0] == nullptr || products[1] == nullptr) return std::nullopt;
  for (std::size_t turns = 0; turns < 4; ++turns) {
    const Node *with_sine = products[turns & 1], *with_cosine = products[1 - (turns & 1)];
    const std::size_t side = turns >> 1;
    auto turned = before_turn(with_sine->input(side));
    ValueInfo* half_sine = nullptr;
    if (ValueInfo* const x = turned ? nullptr : before_swap(with_sine->input(side))) {
      half_sine = signed_half(with_sine->input(1 - side));
      if (half_sine != nullptr) turned = Turned{x, false};
    }
    if (!turned || !used_once(with_sine->output()) || !used_once(with_cosine->output())) continue;
    for (const std::size_t other : {std::size_t{0}, std::size_t{1}})
      if (with_cosine->input(other) == turned->x)
        return Rotation{turned->x,
                        with_cosine->input(1 - other),
                        with_sine->input(1 - side),
                        turned->interleaved,
                        half_sine,
                        false};
  }
  return std::nullopt;
}

}  // namespace sardonyx::passes
