// Positions, counts and distances in types that the WebGPU provider computes in. Sizes stay int64:
// they are on the CPU, and Range reads them there, so that nothing is copied.
#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "onnx/graph/ir.h"
#include "onnx/infer/inference.h"
#include "rewriting/affine_indices.h"
#include "symbolic/expr.h"
#include "targets/lowering.h"
#include "targets/onnxruntime/tables.h"
#include "targets/onnxruntime/workarounds/narrowing.h"
#include "targets/onnxruntime/workarounds/own_kernels.h"

namespace sardonyx::targets {
namespace {

using enum base::DType;

constexpr DTypeSet kLong = onnx::dtype_bit(kInt64);
constexpr std::int64_t kFirstInexact = 1 << 24;  // in float32, less one
constexpr std::int64_t kMaxTable = 1 << 20;      // elements: 4 MB
constexpr std::string_view kSince = "1.27";
constexpr const char* kWhy =
    "there is no Range and no arithmetic of int64, so that positions would be computed on the CPU "
    "and copied";

// A number alone may count rounds of a loop, or decide a branch, on the CPU.
bool is_input_of_many(Value value) {
  return value && !value.is_constant() && value.info()->producer == nullptr && value.has_rank() &&
         value.rank() > 0;
}

// Whether the constants are next to integers in float32, too: no other integer is rounded to them.
bool has_few_digits(Value constant) {
  if (!constant || !constant.is_constant()) return false;
  const auto elements = constant.constant()->ints();
  return elements && std::ranges::all_of(*elements, [](std::int64_t each) {
           return -kFirstInexact < each && each < kFirstInexact;
         });
}

// Before: LessOrEqual(positions, others)      of int64; one may be a size
// After:  LessOrEqual(positions, others)      of int32, or of float32
std::optional<Values> compared(const Use& use, const Rule& rule) {
  Lowering& onnx = use.onnx;
  Narrowing narrowing(onnx);
  const auto emitted = [&](Value a, Value b) {
    return onnx.without(rule, use, std::vector{a, b},
                        {use.attributes.begin(), use.attributes.end()});
  };
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    const Value size = use.input(i), positions = use.input(1 - i);
    if (!is_size(size)) continue;
    if (is_size(positions)) return std::nullopt;
    // A size is compared on the CPU's side of Range.
    if (const auto found = narrowing.shifted(positions, narrowing.difference({}, size))) {
      const Value zero = onnx.int_scalar(0, kInt32);
      return i == 0 ? emitted(zero, found->value) : emitted(found->value, zero);
    }
  }
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
    if (is_input_of_many(use.input(i)) && has_few_digits(use.input(1 - i))) {
      std::vector<Value> inputs(2);
      for (const std::size_t j : {i, 1 - i}) inputs[j] = onnx.cast(use.input(j), kFloat32);
      return emitted(inputs[0], inputs[1]);
    }
  const bool is_of_size = is_size(use.input(0));
  // What cannot be narrowed comes first, so that nothing is made for a size next to it.
  const auto first = narrowing.operand(use.input(is_of_size ? 1 : 0));
  if (!first) return std::nullopt;
  const auto second = narrowing.operand(use.input(is_of_size ? 0 : 1));
  if (!second || first->is_cut || second->is_cut) return std::nullopt;
  auto [a, b] = narrowing.alike(*first, *second);
  if (is_of_size) std::swap(a, b);
  return emitted(a, b);
}

bool is_cosine_or_sine(const onnx::Use& use) {
  return use.node->is(Op::kCos) || use.node->is(Op::kSin);
}

bool is_for_angles(const onnx::Node* node) {
  return std::ranges::any_of(node->output()->uses, [](const onnx::Use& reader) {
    if (reader.node->is(Op::kUnsqueeze)) return is_for_angles(reader.node);
    return reader.node->is(Op::kMul) &&
           std::ranges::any_of(reader.node->output()->uses, is_cosine_or_sine);
  });
}

// Whether the node, of the canonical IR, makes the positions whose angles the CPU computes.
bool is_of_angles(const Use& use) {
  return use.node != nullptr && !has_own_kernel(use.onnx, Op::kCos) && is_for_angles(use.node);
}

// Cast<float32>(positions), or the same with further axes of 1: the positions, of int64.
Value positions_in(Lowering& onnx, const onnx::Node* factor) {
  if (factor == nullptr) return {};
  if (factor->is(Op::kUnsqueeze)) {
    const Value positions = positions_in(onnx, factor->input(0)->producer);
    return positions ? onnx.unsqueeze(positions, Value(factor->input(1))) : Value();
  }
  const bool is_cast = factor->is(Op::kCast) && factor->input(0)->dtype == kInt64;
  return is_cast ? Value(factor->input(0)) : Value();
}

// How many positions there may be, from 0 on; nothing where they are not counted below a bound.
std::optional<std::int64_t> count_of(Value positions) {
  const auto index = rewriting::affine_index_of(positions.info(), {});
  if (!index || symbolic::range(index->start).low < 0) return std::nullopt;
  Expr last = index->start;
  for (std::size_t axis = 0; axis < index->steps.size(); ++axis) {
    if (index->steps[axis] < 0) return std::nullopt;
    last = last + Expr(index->steps[axis]) * (positions.shape()[axis] - Expr(1));
  }
  const std::int64_t high = symbolic::range(last).high;
  return last.known() && 0 <= high && high < kMaxTable ? std::optional(high + 1) : std::nullopt;
}

// Before: Cos(Cast<float32>(positions) * frequencies)          positions of int64, below a bound
// After:  Gather(Cos([0, 1, 2, ...] * frequencies), positions)
std::optional<Values> in_table(const Use& use, Value positions, Value frequencies) {
  Lowering& onnx = use.onnx;
  const std::int64_t width = frequencies.constant()->element_count();
  if (!onnx.changes_weights() || frequencies.dtype() != kFloat32 || !positions.has_rank() ||
      positions.rank() == 0 || !positions.dim(-1).is(1) || frequencies.rank() == 0 ||
      frequencies.rank() > positions.rank() || !frequencies.dim(-1).is(width))
    return std::nullopt;
  const auto rows = count_of(positions);
  if (!rows || *rows * width > kMaxTable) return std::nullopt;
  std::vector<std::int64_t> counted(static_cast<std::size_t>(*rows));
  std::iota(counted.begin(), counted.end(), 0);
  const Value column = onnx.constant(onnx::Tensor::of_ints(counted, {*rows, 1}));
  const Value angles =
      onnx.mul(onnx.cast(column, kFloat32), onnx.reshape(frequencies, {Expr(width)}));
  const Value table = use.op.id == Op::kCos ? onnx.cos(angles) : onnx.sin(angles);
  return Values{onnx.gather(table, onnx.squeeze(positions, {-1}))};
}

// Before: Cos(Cast<float32>(positions) * frequencies)          positions of int64
// After:  Cos(Cast<float32>(Cast<float64>(positions) * frequencies))
// float64 holds the products of positions below 2^24 exactly, so that they are rounded as before;
// and it keeps them on the CPU, where the positions are and the cosines are computed.
std::optional<Values> of_angles(const Use& use, const Rule& rule) {
  Lowering& onnx = use.onnx;
  const onnx::Node* product = use.input(0)->producer;
  if (product == nullptr || !product->is(Op::kMul)) return std::nullopt;
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    const Value frequencies = product->input(1 - i);
    if (!frequencies.is_constant()) continue;
    const Value positions = positions_in(onnx, product->input(i)->producer);
    if (!positions) continue;
    if (auto found = in_table(use, positions, frequencies)) return found;
    const Value angles = onnx.mul(onnx.cast(positions, kFloat64), onnx.cast(frequencies, kFloat64));
    return onnx.without(rule, use, std::vector{onnx.cast(angles, kFloat32)},
                        {use.attributes.begin(), use.attributes.end()});
  }
  return std::nullopt;
}

// Before: Cast(positions)
// After:  Cast(positions)      of int32, or of float32
std::optional<Values> cast_positions(const Use& use, const Rule& rule) {
  const auto to = static_cast<DType>(use.integer("to", 0));
  if (is_of_angles(use) || (to != kFloat32 && to != kFloat16 && to != kInt32 && to != kBool))
    return std::nullopt;
  if (use.input(0).is_constant()) return std::nullopt;
  const auto found = Narrowing(use.onnx).whole(use.input(0));
  if (!found) return std::nullopt;
  if (found->value.dtype() == to) return Values{found->value};
  return use.onnx.without(rule, use, std::vector{found->value},
                          {use.attributes.begin(), use.attributes.end()});
}

// Whether what is cut lies outside of the table, whatever was added to it.
bool is_far_off(const Use& use, const Narrow& positions) {
  const Value table = use.input(0);
  if (!table.has_rank() || table.rank() == 0) return false;
  const std::int64_t axis = use.integer("axis", 0);
  const auto rows =
      table.shape()[static_cast<std::size_t>(axis < 0 ? axis + table.rank() : axis)].constant();
  return rows && double(*rows) <= kMostRows && positions.most <= kFirstInexact + kMostRows;
}

// Before: Gather(table, positions)
// After:  Gather(table, positions)      of int32
std::optional<Values> looked_up(const Use& use, const Rule& rule) {
  // A table of int64 is on the CPU itself.
  if (use.input(1).is_constant() || use.dtype() == kInt64) return std::nullopt;
  Narrowing narrowing(use.onnx);
  const auto found = narrowing.of(use.input(1));
  if (!found || (found->is_cut && !is_far_off(use, *found))) return std::nullopt;
  return use.onnx.without(rule, use, std::vector{use.input(0), narrowing.as_int32(*found)},
                          {use.attributes.begin(), use.attributes.end()});
}

// Before: GatherND(x, Concat(Unsqueeze(Range(0, batch)), columns))      batch: rows of x
// After:  GatherND<batch_dims = 1>(x, columns)
std::optional<Values> of_each_row(const Use& use, const Rule& rule) {
  const Value x = use.input(0);
  const onnx::Node* pairs = use.input(1)->producer;
  if (use.integer("batch_dims", 0) != 0 || pairs == nullptr || !pairs->is(Op::kConcat) ||
      pairs->inputs.size() != 2 || !x.has_rank() || x.rank() < 2)
    return std::nullopt;
  const Value columns = pairs->input(1);
  const onnx::Node* rows = pairs->input(0)->producer;
  if (rows == nullptr || !rows->is(Op::kUnsqueeze) || !columns.has_rank() || columns.rank() != 2 ||
      columns.shape()[0] != x.shape()[0])
    return std::nullopt;
  const onnx::Node* range = rows->input(0)->producer;
  if (range == nullptr || !range->is(Op::kRange)) return std::nullopt;
  const auto starts = onnx::contents_of(range->input(0)),
             limits = onnx::contents_of(range->input(1)),
             deltas = onnx::contents_of(range->input(2));
  if (!starts || !limits || !deltas || starts->front() != Expr(0) || deltas->front() != Expr(1) ||
      limits->front() != x.shape()[0])
    return std::nullopt;
  return use.onnx.without(rule, use, std::vector{x, columns},
                          {{"batch_dims", std::int64_t{1}, {}}});
}

constexpr Rule comparison(std::string_view name, Op op) {
  return {.name = name,
          .op = op,
          .reason = Reason::kLacks,
          .types = kLong,
          .how = compared,
          .why = kWhy,
          .since = kSince};
}

template <Op op>
bool has_none(const Use& use) {
  return !has_own_kernel(use.onnx, op);
}

template <Op op>
constexpr Rule trigonometric(std::string_view name) {
  return {
      .name = name,
      .op = op,
      .reason = Reason::kLacks,
      .types = onnx::dtype_bit(kFloat32),
      .when = has_none<op>,
      .how = of_angles,
      .why =
          "the kernel is of opsets below 22, and inexact: with it a Llama with a cache differs by "
          "2.7e-4 from PyTorch, with angles of the CPU by 6e-7. Of positions below a bound they "
          "are looked up in a table, of positions that are inputs they are copied in their place",
      .since = kSince};
}

constexpr Rule kRows[] = {
    trigonometric<Op::kCos>("cosines-of-positions"),
    trigonometric<Op::kSin>("sines-of-positions"),
    comparison("positions-that-are-equal", Op::kEqual),
    comparison("positions-that-are-greater", Op::kGreater),
    comparison("positions-that-are-not-less", Op::kGreaterOrEqual),
    comparison("positions-that-are-less", Op::kLess),
    comparison("positions-that-are-not-greater", Op::kLessOrEqual),
    {.name = "positions-as-numbers",
     .op = Op::kCast,
     .reason = Reason::kLacks,
     .types = kLong,
     .how = cast_positions,
     .why = kWhy,
     .since = kSince},
    {.name = "places-in-each-row",
     .op = Op::kGatherND,
     .reason = Reason::kLacks,
     .how = of_each_row,
     .why = "numbers of rows are int64 here, which would be computed on the CPU and copied",
     .since = kSince},
    {.name = "positions-in-a-table",
     .op = Op::kGather,
     .reason = Reason::kLacks,
     .how = looked_up,
     .why = kWhy,
     .since = kSince},
};

}  // namespace

Rules position_rules() { return kRows; }

}  // namespace sardonyx::targets
