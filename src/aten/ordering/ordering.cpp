#include "aten/ordering/ordering.h"

#include <bit>
#include <cmath>
#include <limits>

namespace sardonyx::aten {
namespace {

// TopK for equal elements gives the lower index first: ascending, it is a stable sort.
Ordered ascending(Emit& onnx, Value x, std::int64_t axis) {
  const auto [values, indices] =
      onnx.topk(x, onnx.sizes({x.dim(axis)}), {.axis = axis, .largest = 0, .sorted = 1});
  return {values, indices};
}

}  // namespace

// TopK's comparisons say nothing of NaN. They sort as infinities first, then behind those.
Ordered in_order(Emit& onnx, Value x, std::int64_t axis) {
  if (x.rank() == 0) return {x, onnx.int_scalar(0)};
  if (x.dtype() == DType::kBool) {
    const Ordered found = ascending(onnx, onnx.cast(x, DType::kInt32), axis);
    return {onnx.cast(found.values, DType::kBool), found.indices};
  }
  if (!base::is_floating(x.dtype())) return ascending(onnx, x, axis);
  const Value nan = onnx.is_nan(x);
  const Value infinity = onnx.scalar(std::numeric_limits<double>::infinity(), x.dtype());
  const Value numbers = ascending(onnx, onnx.where(nan, infinity, x), axis).indices;
  const Value moved = onnx.gather_elements(onnx.cast(nan, DType::kInt32), numbers, {.axis = axis});
  const Value behind = ascending(onnx, moved, axis).indices;
  const Value indices = onnx.gather_elements(numbers, behind, {.axis = axis});
  return {onnx.gather_elements(x, indices, {.axis = axis}), indices};
}

Value count_nans(Emit& onnx, Value x, std::int64_t axis) {
  const std::vector<std::int64_t> axes = {axis};
  return onnx.reduce("ReduceSum", onnx.cast(onnx.is_nan(x), DType::kInt64), axes, true);
}

Value starts_run(Emit& onnx, Value x, std::int64_t axis) {
  const Expr count = x.dim(axis);
  const Value after = onnx.slice(x, axis, 1, count), before = onnx.slice(x, axis, 0, count - 1);
  const Value differs = onnx.not_(onnx.equal(after, before));
  Shape first = x.shape();
  first[static_cast<std::size_t>(axis)] = 1;
  const Value starts = onnx.concat({onnx.full(first, onnx.bool_scalar(true)), differs}, axis);
  // An empty axis has no first element.
  const Value result = onnx.slice(starts, axis, 0, count);
  if (!result.is_constant()) Emit::set_type(result, DType::kBool, x.shape());
  return result;
}

Value insertion_points(Emit& onnx, Value sorted, Value values, bool right) {
  const Expr count = sorted.dim(-1);
  const Value size = onnx.size(count), one = onnx.int_scalar(1);
  Value steps;  // the bits of `count`; one step too many does no harm
  if (const std::optional<std::int64_t> known = count.constant()) {
    steps = onnx.int_scalar(
        static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(*known))));
  } else {
    const Value bits = onnx.div(onnx.log(onnx.cast(onnx.add(size, one), DType::kFloat64)),
                                onnx.scalar(std::log(2.0), DType::kFloat64));
    steps = onnx.add(onnx.cast(onnx.ceil(bits), DType::kInt64), one);
  }
  const Value low = onnx.full(values.shape(), onnx.int_scalar(0));
  const Value high = onnx.expand(size, values.shape());

  onnx::Graph* body = onnx.begin_body("binary_search");
  onnx.body_input("step", DType::kInt64, {});
  const Value condition = onnx.body_input("condition", DType::kBool, {});
  const Value from = onnx.body_input("low", DType::kInt64, values.shape());
  const Value to = onnx.body_input("high", DType::kInt64, values.shape());
  const Value middle = onnx.div(onnx.add(from, to), onnx.int_scalar(2));
  const Value open = onnx.less(from, to);
  const Value place = onnx.where(open, middle, onnx.int_scalar(0));
  const Value element = sorted.rank() == 1 ? onnx.gather(sorted, place)
                                           : onnx.gather_elements(sorted, place, {.axis = -1});
  const Value not_before =
      right ? onnx.greater(element, values) : onnx.greater_or_equal(element, values);
  const Value upwards = onnx.and_(open, onnx.not_(not_before));
  const Value downwards = onnx.and_(open, not_before);
  const Value next_low = onnx.where(upwards, onnx.add(middle, one), from);
  const Value next_high = onnx.where(downwards, middle, to);
  const Value results[] = {onnx.identity(condition), next_low, next_high};
  onnx.end_body(results);

  const Value initial[] = {low, high};
  const Value any = onnx.greater(size, onnx.int_scalar(0));
  return onnx.loop(steps, any, initial, body).front();
}

}  // namespace sardonyx::aten
