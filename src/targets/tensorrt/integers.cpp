// Operators that TensorRT's documentation lists for real numbers only.
#include "onnx/graph/ir.h"
#include "onnx/infer/inference.h"
#include "targets/lowering.h"
#include "targets/tensorrt/tables.h"

namespace sardonyx::targets {
namespace {

using enum base::DType;

constexpr std::string_view kSince = "documentation of 11.0, read";
constexpr DTypeSet kIntegers = onnx::dtype_bit(kInt32) | onnx::dtype_bit(kInt64);

// Before: Clip(x, least, most)
// After:  Min(Max(x, least), most)
std::optional<Values> between(const Use& use, const Rule&) {
  Lowering& onnx = use.onnx;
  Value x = use.input(0);
  if (use.input(1)) x = onnx.max({x, use.input(1)});
  if (use.input(2)) x = onnx.min({x, use.input(2)});
  return Values{x};
}

// Before: NonZero(x)
// After:  NonZero(Cast<float32>(Cast<bool>(x)))
std::optional<Values> of_ones(const Use& use, const Rule& rule) {
  Lowering& onnx = use.onnx;
  const Value ones = onnx.cast(onnx.cast(use.input(0), kBool), kFloat32);
  return onnx.without(rule, use, std::vector{ones}, {});
}

std::optional<std::int64_t> axis_of(const Use& use) {
  const auto known = onnx::contents_of(use.input(1).info());
  if (!known || known->size() != 1 || !(*known)[0].is_constant() || !use.input(0).has_rank())
    return std::nullopt;
  const std::int64_t axis = (*known)[0].value();
  return axis < 0 ? axis + use.input(0).rank() : axis;
}

// Before: CumSum(x, axis)
// After:  ReduceSum of x where its place is no later: as many elements as the axis' size squared
std::optional<Values> sums_of_places(const Use& use, const Rule&) {
  Lowering& onnx = use.onnx;
  const auto axis = axis_of(use);
  if (!axis) return std::nullopt;
  const Value x = use.input(0);
  const Expr size = x.dim(*axis);
  if (!onnx.can_size(size)) return std::nullopt;
  const bool reverses = use.integer("reverse", 0) != 0, excludes = use.integer("exclusive", 0) != 0;
  const Value places = onnx.range(size);
  const Value sums = onnx.unsqueeze(places, {1});    // the place of the sum
  const Value summed = onnx.unsqueeze(places, {0});  // the place of the element
  const Value first = reverses ? sums : summed, second = reverses ? summed : sums;
  Value reached = excludes ? onnx.less(first, second) : onnx.less_or_equal(first, second);
  std::vector<std::int64_t> behind;
  for (std::int64_t i = *axis + 1; i < x.rank(); ++i) behind.push_back(i - *axis + 1);
  reached = onnx.unsqueeze(reached, behind);
  const Value each = onnx.where(reached, onnx.unsqueeze(x, {*axis}), onnx.zero(x.dtype()));
  return Values{onnx.reduce("ReduceSum", each, std::vector{*axis + 1}, false)};
}

constexpr Rule kRows[] = {
    {.name = "clip-of-integers",
     .op = Op::kClip,
     .reason = Reason::kLacks,
     .types = kIntegers,
     .how = between,
     .why = "the documentation lists Clip of real numbers only",
     .since = kSince},
    {.name = "places-of-integers",
     .op = Op::kNonZero,
     .reason = Reason::kLacks,
     .types = kIntegers | onnx::dtype_bit(kBool),
     .how = of_ones,
     .why = "the documentation lists NonZero of real numbers only",
     .since = kSince},
    {.name = "running-sums-of-integers",
     .op = Op::kCumSum,
     .reason = Reason::kLacks,
     .types = kIntegers,
     .how = sums_of_places,
     .why = "the documentation lists CumSum of real numbers only",
     .since = kSince},
};

}  // namespace

Rules tensorrt_integer_rules() { return kRows; }

}  // namespace sardonyx::targets
