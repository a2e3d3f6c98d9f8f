// Positions as int32, which the WebGPU provider has arithmetic of. Sizes stay int64: they are on
// the CPU, and Range reads them there, so that nothing is copied.
#include <algorithm>
#include <optional>
#include <vector>

#include "onnx/graph/ir.h"
#include "onnx/infer/inference.h"
#include "targets/lowering.h"
#include "targets/onnxruntime/tables.h"
#include "targets/onnxruntime/workarounds/own_kernels.h"

namespace sardonyx::targets {
namespace {

using enum base::DType;

constexpr DTypeSet kLong = onnx::dtype_bit(kInt64);
constexpr std::string_view kSince = "1.27";
constexpr const char* kWhy =
    "there is no Range and no arithmetic of int64, so that positions would be computed on the CPU "
    "and copied";

// A size of a tensor, or a sum of such: no text has as many tokens as int32 cannot count.
bool is_size(Value value) {
  if (!value || value.dtype() != kInt64 || !value.has_rank() || value.rank() != 0) return false;
  const auto contents = onnx::contents_of(value.info());
  return contents && contents->size() == 1 && contents->front().known();
}

Value sum(Lowering& onnx, Value a, Value b) {
  if (!a) return b;
  return b ? onnx.add(a, b) : a;
}

Value difference(Lowering& onnx, Value a, Value b) {
  return onnx.sub(a ? a : onnx.zero(kInt64), b);
}

// Before: Range(start, limit, delta) + offset
// After:  Range<int32>(start + offset, limit + offset, delta)
std::optional<Value> counted(Lowering& onnx, const onnx::Node* range, Value offset) {
  const Value start = range->input(0), limit = range->input(1), delta = range->input(2);
  if (!is_size(start) || !is_size(limit) || !is_size(delta)) return std::nullopt;
  return onnx.range(onnx.cast(sum(onnx, start, offset), kInt32),
                    onnx.cast(sum(onnx, limit, offset), kInt32), onnx.cast(delta, kInt32));
}

// The positions, with an offset that may be null, as int32; nothing for other integers.
std::optional<Value> narrowed(Lowering& onnx, Value positions, Value offset) {
  const onnx::Node* node = positions ? positions.info()->producer : nullptr;
  if (node == nullptr || positions.dtype() != kInt64) return std::nullopt;
  if (node->is(Op::kRange)) return counted(onnx, node, offset);
  if (node->is(Op::kUnsqueeze) || node->is(Op::kExpand)) {
    const auto moved = narrowed(onnx, node->input(0), offset);
    if (!moved) return std::nullopt;
    return node->is(Op::kUnsqueeze) ? onnx.unsqueeze(*moved, Value(node->input(1)))
                                    : onnx.expand(*moved, node->input(1));
  }
  const bool is_sum = node->is(Op::kAdd);
  if (!is_sum && !node->is(Op::kSub)) return std::nullopt;
  const Value a = node->input(0), b = node->input(1);
  if (is_size(b))
    return narrowed(onnx, a, is_sum ? sum(onnx, offset, b) : difference(onnx, offset, b));
  if (is_sum && is_size(a)) return narrowed(onnx, b, sum(onnx, offset, a));
  const auto left = narrowed(onnx, a, offset), right = narrowed(onnx, b, {});
  if (!left || !right) return std::nullopt;
  return is_sum ? onnx.add(*left, *right) : onnx.sub(*left, *right);
}

// Before: LessOrEqual(positions, others)      of int64; one may be a size
// After:  LessOrEqual(positions, others)      of int32
std::optional<Values> compared(const Use& use, const Rule& rule) {
  Lowering& onnx = use.onnx;
  std::vector<Value> inputs(2);
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    const Value other = use.input(1 - i);
    // A size is compared on the CPU's side of Range.
    const bool is_beside_size = is_size(other);
    const Value offset = is_beside_size ? difference(onnx, {}, other) : Value();
    const auto found = narrowed(onnx, use.input(i), offset);
    if (!found) {
      if (!is_size(use.input(i))) return std::nullopt;
      continue;
    }
    inputs[i] = *found;
    if (is_beside_size) inputs[1 - i] = onnx.int_scalar(0, kInt32);
  }
  if (!inputs[0] || !inputs[1]) return std::nullopt;
  return onnx.without(rule, use, inputs, {use.attributes.begin(), use.attributes.end()});
}

bool is_cosine_or_sine(const onnx::Use& use) {
  return use.node->is(Op::kCos) || use.node->is(Op::kSin);
}

// Whether the node, of the canonical IR, makes the positions whose angles the CPU computes.
bool is_of_angles(const Use& use) {
  return use.node != nullptr && !has_own_kernel(use.onnx, Op::kCos) &&
         std::ranges::any_of(use.node->output()->uses, [](const onnx::Use& reader) {
           return reader.node->is(Op::kMul) &&
                  std::ranges::any_of(reader.node->output()->uses, is_cosine_or_sine);
         });
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
    const onnx::Node* cast = product->input(i)->producer;
    if (cast == nullptr || !cast->is(Op::kCast) || cast->input(0)->dtype != kInt64 ||
        !frequencies.is_constant())
      continue;
    const Value angles =
        onnx.mul(onnx.cast(Value(cast->input(0)), kFloat64), onnx.cast(frequencies, kFloat64));
    return onnx.without(rule, use, std::vector{onnx.cast(angles, kFloat32)},
                        {use.attributes.begin(), use.attributes.end()});
  }
  return std::nullopt;
}

// Before: Cast(positions)
// After:  Cast(positions)      of int32
std::optional<Values> cast_positions(const Use& use, const Rule& rule) {
  const auto to = static_cast<DType>(use.integer("to", 0));
  if (is_of_angles(use) || (to != kFloat32 && to != kFloat16 && to != kInt32)) return std::nullopt;
  const auto found = narrowed(use.onnx, use.input(0), {});
  if (!found) return std::nullopt;
  if (to == kInt32) return Values{*found};
  return use.onnx.without(rule, use, std::vector{*found},
                          {use.attributes.begin(), use.attributes.end()});
}

// Before: Gather(table, positions)
// After:  Gather(table, positions)      of int32
std::optional<Values> looked_up(const Use& use, const Rule& rule) {
  const auto found = narrowed(use.onnx, use.input(1), {});
  if (!found) return std::nullopt;
  return use.onnx.without(rule, use, std::vector{use.input(0), *found},
                          {use.attributes.begin(), use.attributes.end()});
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
  return {.name = name,
          .op = op,
          .reason = Reason::kLacks,
          .types = onnx::dtype_bit(kFloat32),
          .when = has_none<op>,
          .how = of_angles,
          .why =
              "the kernel is of opsets below 22; angles would be computed between copies to the "
              "GPU and back",
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
