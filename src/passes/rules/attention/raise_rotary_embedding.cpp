// Before: y = Add(Mul(x, c), Mul(Concat<axis = -1>(Neg(second), first), s))
//         first, second = Split<axis = -1>(x); c, s: Unsqueeze([1]) of tables with each angle twice
// After:  y = RotaryEmbedding(x, half of c's table, half of s's table)
// So, too, Concat(Sub(Mul(first, c), Mul(second, s)), Add(Mul(second, c), Mul(first, s))), whose
// tables have each angle once, and where the second half keeps its sign and Concat(Neg(s), s)
// stands for s, as the operator's definition has it; and with pairs of neighbors for halves, which
// is interleaved. x is [batch, heads, length, size], or [batch, length, heads, size], whose heads
// then lie side by side for the embedding. Tables are computed in the graph, or weights that are
// sliced or gathered from; those of one batch are expanded, once for all layers.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "passes/constant_ints.h"
#include "passes/rules/attention/heads.h"
#include "passes/rules/attention/rotary_tables.h"
#include "passes/rules/attention/rotations.h"
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
using symbolic::Expr;

// What has the same first axis as x, which then need not be kept for its size alone.
ValueInfo* with_batches_of(ValueInfo* x) {
  while (x->producer != nullptr && x->producer->input(0) != nullptr) {
    const Node* node = x->producer;
    const bool moves = node->is(Op::kSplit) || node->is(Op::kSlice) || node->is(Op::kReshape) ||
                       node->is(Op::kTranspose);
    ValueInfo* const before = node->input(0);
    if (!moves || !before->has_rank || before->shape.empty() || !before->shape[0].known() ||
        !(before->shape[0] == x->shape[0]))
      break;
    x = before;
  }
  return x;
}

// The tables of one batch for each batch of x; what another layer expanded is taken. `shape` is
// that of the other table for all batches, or null and then made.
ValueInfo* for_each_batch(ValueInfo* table, ValueInfo* x, ValueInfo*& shape, Patch& patch,
                          const Node* position) {
  if (table->shape[0] == x->shape[0]) return table;
  const Shape wanted = {x->shape[0], table->shape[1], table->shape[2]};
  for (const onnx::Use& use : table->uses)
    if (use.node->is(Op::kExpand) && use.index == 0 && is_known(use.node->output(), 3) &&
        use.node->output()->shape == wanted && onnx::is_visible(use.node->output(), position))
      return use.node->output();
  const std::string name = table->name + "_Expand";
  if (shape == nullptr) {
    ValueInfo* const batch =
        patch.node(Op::kShape, {with_batches_of(x)}, {{"end", std::int64_t{1}, {}}}, name);
    shape =
        patch.node(Op::kConcat, {batch, patch.ints({1, 1})}, {{"axis", std::int64_t{0}, {}}}, name);
  }
  ValueInfo* const wide = patch.node(Op::kExpand, {table, shape}, {}, name);
  if (wide != nullptr) wide->has_rank = true, wide->shape = wanted;
  return wide;
}

// [length, size] or [1, length, size], which serves all batches and heads.
bool serves_all(const ValueInfo* table, const ValueInfo* x, Expr width) {
  if (!table->has_rank || (table->shape.size() != 2 && table->shape.size() != 3)) return false;
  const Shape& shape = table->shape;
  return is_known(table, shape.size()) && (shape.size() == 2 || shape[0].is(1)) &&
         shape[shape.size() - 2] == x->shape[2] && shape.back() == width;
}

// The axis of the heads, 1 or 2, that a table multiplied with x has one of; 0 where it has another
// form.
std::size_t heads_axis(const ValueInfo* table, const ValueInfo* x, Expr width) {
  if (serves_all(table, x, width)) return 1;
  if (!is_known(table, 4) || !(table->shape[3] == width) ||
      !(table->shape[0] == x->shape[0] || table->shape[0].is(1)))
    return 0;
  for (const std::size_t heads : {std::size_t{1}, std::size_t{2}})
    if (table->shape[heads].is(1) && table->shape[3 - heads] == x->shape[3 - heads]) return heads;
  return 0;
}

class Raising {
 public:
  Raising(RuleContext& context, Node* sum, const Rotation& found)
      : context_(context), patch_(context, sum), sum_(sum), found_(found) {}

  bool run() {
    const std::size_t axis = heads_axis(found_.cosine, found_.x, width());
    ValueInfo *cosine = nullptr, *sine = nullptr;
    if (axis != 0 && heads_axis(found_.sine, found_.x, width()) == axis) {
      cosine = half_table(found_.cosine, axis);
      sine = half_table(found_.sine, axis);
    }
    if (!patch_.failed() && (cosine == nullptr || sine == nullptr))
      patch_.fail("its tables are not known to hold each angle of [batch, 1, length] twice");
    if (patch_.failed()) return patch_.apply();
    std::vector<onnx::Attribute> attributes;
    if (found_.interleaved) attributes.push_back({"interleaved", std::int64_t{1}, {}});
    if (axis == 2) return run_side_by_side(cosine, sine, std::move(attributes));
    patch_.replace(sum_->output(), patch_.node(Op::kRotaryEmbedding, {found_.x, cosine, sine},
                                               std::move(attributes), sum_->output()->name));
    return patch_.apply();
  }

 private:
  // Of the tables as they are.
  Expr width() const {
    const Expr size = found_.x->shape[3];
    return found_.by_halves ? symbolic::exact_quotient(size, Expr(2)) : size;
  }

  // x is [batch, length, heads, size].
  bool run_side_by_side(ValueInfo* cosine, ValueInfo* sine,
                        std::vector<onnx::Attribute> attributes) {
    const Shape& shape = found_.x->shape;
    if (!shape[2].is_constant() || shape[2].value() == 0)
      return context_.decline(sum_, "how many heads there are is not known");
    const std::int64_t heads = shape[2].value(), size = shape[3].value();
    const std::string& name = sum_->output()->name;
    attributes.push_back({"num_heads", heads, {}});
    ValueInfo* const joined =
        patch_.node(Op::kReshape, {found_.x, patch_.ints({0, 0, heads * size})}, {}, name);
    ValueInfo* const turned =
        patch_.node(Op::kRotaryEmbedding, {joined, cosine, sine}, std::move(attributes), name);
    patch_.replace(sum_->output(),
                   patch_.node(Op::kReshape, {turned, patch_.ints({0, 0, heads, size})}, {}, name));
    return patch_.apply();
  }

  // [batch, length, size / 2] of a table with an axis for the heads; null where it has another
  // form.
  ValueInfo* half_table(ValueInfo* table, std::size_t heads) {
    const auto axis = static_cast<std::int64_t>(heads);
    ValueInfo* half = found_.by_halves ? table
                      : table == found_.sine && found_.half_sine != nullptr
                          ? found_.half_sine
                          : half_of(table, found_.interleaved, patch_, sum_, context_);
    if (half == nullptr) return nullptr;
    if (serves_all(table, found_.x, width())) {
      if (half->shape.size() == 2) half = with_axes(Op::kUnsqueeze, half, {0}, patch_, sum_);
      return half == nullptr ? nullptr : for_each_batch(half, found_.x, wide_, patch_, sum_);
    }
    const Node* unsqueeze = made_by(half, Op::kUnsqueeze);
    if (unsqueeze != nullptr && known_int(unsqueeze->input(1)) == axis &&
        is_known(unsqueeze->input(0), 3))
      half = unsqueeze->input(0);
    else
      half = with_axes(Op::kSqueeze, half, {axis}, patch_, sum_);
    return half == nullptr ? nullptr : for_each_batch(half, found_.x, wide_, patch_, sum_);
  }

  RuleContext& context_;
  Patch patch_;
  Node* sum_;
  const Rotation& found_;
  ValueInfo* wide_ = nullptr;  // the shape of the first table with all batches
};

bool raise(Node* sum, RuleContext& context) {
  const auto found = rotation_of(sum);
  if (!found) return false;
  const DType dtype = found->x->dtype;
  const bool taken =
      dtype == DType::kFloat32 || dtype == DType::kFloat16 || dtype == DType::kBFloat16;
  if (!taken || found->cosine->dtype != dtype || found->sine->dtype != dtype)
    return context.decline(sum, "RotaryEmbedding is not of this element type");
  return Raising(context, sum, *found).run();
}

constexpr Op kRoots[] = {Op::kAdd, Op::kConcat};

}  // namespace

const Rule kRaiseRotaryEmbedding = {"raise-rotary-embedding", kRoots, raise, 23};

}  // namespace sardonyx::passes
