// Before: y = Add(Mul(x, c), Mul(Concat<axis = -1>(Neg(second), first), s))
//         first, second = Split<axis = -1>(x); c, s: Unsqueeze([1]) of tables with each angle twice
// After:  y = RotaryEmbedding(x, half of c's table, half of s's table)
// x is [batch, heads, length, size]. Tables are computed in the graph, or weights that are sliced
// or gathered from; those of one batch are expanded, once for all layers.
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "passes/rules/attention/heads.h"
#include "passes/rules/attention/rotary_tables.h"
#include "passes/rules/attention/rules.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Node;
using onnx::Op;
using onnx::Shape;
using onnx::ValueInfo;

std::optional<std::int64_t> number(const ValueInfo* value) {
  if (value == nullptr || value->constant == nullptr) return std::nullopt;
  const auto ints = value->constant->ints();
  return ints && ints->size() == 1 ? std::optional(ints->front()) : std::nullopt;
}

// Whether it is this half of the last axis of x, which is `size` wide.
bool is_half(const ValueInfo* value, const ValueInfo* x, std::int64_t size, std::uint32_t which) {
  const Node* node = value == nullptr ? nullptr : value->producer;
  if (node == nullptr || node->input(0) != x || !is_known(value, 4) ||
      !value->shape[3].is(size / 2))
    return false;
  if (node->is(Op::kSplit)) {
    const std::int64_t axis = node->int_or("axis", 0);
    return (axis == 3 || axis == -1) && node->outputs.size() == 2 && value->index == which;
  }
  if (!node->is(Op::kSlice) || (node->input(4) != nullptr && number(node->input(4)) != 1))
    return false;
  const auto start = number(node->input(1)), axis = number(node->input(3));
  if (!start || !axis || (*axis != 3 && *axis != -1)) return false;
  const std::int64_t from = *start < 0 ? *start + size : *start;
  return from == (which == 0 ? 0 : size / 2);
}

// x where the value is rotate_half(x), of which nothing else needs to know.
ValueInfo* before_rotation(const ValueInfo* value) {
  const Node* concat = made_by(value, Op::kConcat);
  if (concat == nullptr || concat->inputs.size() != 2 || !is_known(value, 4) || !used_once(value))
    return nullptr;
  const std::int64_t axis = concat->int_or("axis", 0);
  const Node* negated = made_by(concat->input(0), Op::kNeg);
  if ((axis != 3 && axis != -1) || negated == nullptr || negated->input(0)->producer == nullptr ||
      !value->shape[3].is_constant())
    return nullptr;
  ValueInfo* const x = negated->input(0)->producer->input(0);
  const std::int64_t size = value->shape[3].value();
  const bool halves = size % 2 == 0 && is_known(x, 4) && x->shape[3].is(size) &&
                      is_half(negated->input(0), x, size, 1) &&
                      is_half(concat->input(1), x, size, 0);
  return halves ? x : nullptr;
}

struct Rotation {
  ValueInfo *x, *cosine, *sine;
};

// Of x * cosine + rotate_half(x) * sine, whichever way round.
std::optional<Rotation> rotation_of(const Node* sum) {
  const std::array<Node*, 2> products = {made_by(sum->input(0), Op::kMul),
                                         made_by(sum->input(1), Op::kMul)};
  if (products[0] == nullptr || products[1] == nullptr) return std::nullopt;
  for (int turns = 0; turns < 4; ++turns) {
    const Node *with_sine = products[turns & 1], *with_cosine = products[1 - (turns & 1)];
    const std::size_t side = turns >> 1;
    ValueInfo* const x = before_rotation(with_sine->input(side));
    if (x == nullptr || !used_once(with_sine->output()) || !used_once(with_cosine->output()))
      continue;
    for (const std::size_t other : {std::size_t{0}, std::size_t{1}})
      if (with_cosine->input(other) == x)
        return Rotation{x, with_cosine->input(1 - other), with_sine->input(1 - side)};
  }
  return std::nullopt;
}

// The tables of one batch for each batch of x; what another layer expanded is taken.
ValueInfo* for_each_batch(ValueInfo* table, ValueInfo* x, Patch& patch, const Node* position) {
  if (table->shape[0] == x->shape[0]) return table;
  const Shape wanted = {x->shape[0], table->shape[1], table->shape[2]};
  for (const onnx::Use& use : table->uses)
    if (use.node->is(Op::kExpand) && use.index == 0 && is_known(use.node->output(), 3) &&
        use.node->output()->shape == wanted && onnx::is_visible(use.node->output(), position))
      return use.node->output();
  const std::string name = table->name + "_Expand";
  ValueInfo* const batch = patch.node(Op::kShape, {x}, {{"end", std::int64_t{1}, {}}}, name);
  ValueInfo* const shape =
      patch.node(Op::kConcat, {batch, patch.ints({1, 1})}, {{"axis", std::int64_t{0}, {}}}, name);
  ValueInfo* const wide = patch.node(Op::kExpand, {table, shape}, {}, name);
  if (wide != nullptr) wide->has_rank = true, wide->shape = wanted;
  return wide;
}

// [batch, length, size / 2] of a table that is multiplied with x; null where it has another form.
ValueInfo* half_table(ValueInfo* table, ValueInfo* x, Patch& patch, const Node* position,
                      const RuleContext& context) {
  if (!is_known(table, 4) || !table->shape[1].is(1) || !(table->shape[2] == x->shape[2]) ||
      !(table->shape[3] == x->shape[3]) ||
      !(table->shape[0] == x->shape[0] || table->shape[0].is(1)))
    return nullptr;
  ValueInfo* half = half_of(table, patch, position, context);
  if (half == nullptr) return nullptr;
  const Node* unsqueeze = made_by(half, Op::kUnsqueeze);
  if (unsqueeze != nullptr && number(unsqueeze->input(1)) == 1 && is_known(unsqueeze->input(0), 3))
    half = unsqueeze->input(0);
  else
    half = patch.node(Op::kSqueeze, {half, patch.ints({1})}, {}, table->name + "_Squeeze");
  return half == nullptr ? nullptr : for_each_batch(half, x, patch, position);
}

bool raise(Node* sum, RuleContext& context) {
  const auto found = rotation_of(sum);
  if (!found) return false;
  auto [x, cosine, sine] = *found;
  const DType dtype = x->dtype;
  const bool taken =
      dtype == DType::kFloat32 || dtype == DType::kFloat16 || dtype == DType::kBFloat16;
  if (!taken || cosine->dtype != dtype || sine->dtype != dtype)
    return context.decline(sum, "RotaryEmbedding is not of this element type");
  Patch patch(context, sum);
  ValueInfo* const half_cosine = half_table(cosine, x, patch, sum, context);
  ValueInfo* const half_sine = half_table(sine, x, patch, sum, context);
  if (!patch.failed() && (half_cosine == nullptr || half_sine == nullptr))
    patch.fail("its tables are not known to hold each angle of [batch, 1, length] twice");
  if (!patch.failed())
    patch.replace(sum->output(), patch.node(Op::kRotaryEmbedding, {x, half_cosine, half_sine}, {},
                                            sum->output()->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kAdd};

}  // namespace

const Rule kRaiseRotaryEmbedding = {"raise-rotary-embedding", kRoots, raise, 23};

}  // namespace sardonyx::passes
