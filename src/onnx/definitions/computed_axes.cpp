#include "onnx/definitions/computed_axes.h"

#include <algorithm>

#include "onnx/gen/op.h"

namespace sardonyx::onnx {
namespace {

// None of them negative, int64 [n].
Value counted_from_zero(Emit& onnx, Value axes, std::int64_t rank) {
  const Value flat = onnx.cast(onnx.flatten_to_1d(axes), DType::kInt64);
  const Value is_negative = onnx.less(flat, onnx.int_scalar(0));
  return onnx.where(is_negative, onnx.add(flat, onnx.int_scalar(rank)), flat);
}

// int64 [1]; of no sizes it is 1.
Value product(Emit& onnx, Value sizes) {
  return onnx.reduce_prod(onnx.concat({onnx.ints({1}), sizes}, 0), {}, {.keepdims = 1});
}

bool has_empty_axis(Value x) {
  return std::ranges::any_of(x.shape(), [](Expr dim) { return may_be_zero(dim); });
}

}  // namespace

ComputedAxis::ComputedAxis(Emit& onnx, Value x, Value axis, Options options)
    : onnx_(onnx),
      last_(options.last),
      may_be_empty_(options.may_be_empty.value_or(has_empty_axis(x))) {
  const std::int64_t last = options.last;
  const Value shape = onnx.shape_of(x), place = counted_from_zero(onnx, axis, x.rank());
  const Value behind = onnx.add(place, onnx.ints({1})), end = onnx.ints({x.rank() - last});
  before_ = onnx.Operators::slice(shape, onnx.ints({0}), place);
  after_ = onnx.Operators::slice(shape, behind, end);
  Values sizes = {product(onnx, before_), onnx.Operators::gather(shape, place),
                  product(onnx, after_)};
  for (std::int64_t i = last; i > 0; --i) sizes.push_back(onnx.dim_of(x, -i));
  joined_ = reshaped(x, onnx.concat(sizes, 0));
  if (!joined_.has_rank()) Emit::set_type(joined_, x.dtype(), Shape(sizes.size()));
}

// A size of 0 is a size, and no place to copy from.
Value ComputedAxis::reshaped(Value x, Value sizes) const {
  ReshapeAttributes attributes;
  if (may_be_empty_) attributes.allowzero = 1;
  return onnx_.Operators::reshape(x, sizes, attributes);
}

Value ComputedAxis::restored(Value y) const {
  Values sizes = {before_, onnx_.dim_of(y, kPlace), after_};
  for (std::int64_t i = last_; i > 0; --i) sizes.push_back(onnx_.dim_of(y, -i));
  return reshaped(y, onnx_.concat(sizes, 0));
}

namespace {

bool is_half(DType dtype) { return dtype == DType::kFloat16 || dtype == DType::kBFloat16; }

// ReduceSum takes its axes as an input since opset 13: what is made of sums.
std::optional<Value> by_sums(const Composite& call, Op op, Value x) {
  Emit& onnx = call.onnx;
  const auto sum = [&](Value terms) {
    return onnx.reduce_sum(terms, call.input(1), {.keepdims = call.integer("keepdims", 1)});
  };
  switch (op) {
    case Op::kReduceL1:
      return sum(onnx.abs(x));
    case Op::kReduceL2:
      return onnx.sqrt(sum(onnx.mul(x, x)));
    case Op::kReduceLogSum:
      return onnx.log(sum(x));
    case Op::kReduceSumSquare:
      return sum(onnx.mul(x, x));
    case Op::kReduceMean: {
      const Value total = sum(x), results = onnx.Operators::size(total);
      const Value count =
          onnx.div(onnx.Operators::size(x), onnx.max({results, onnx.int_scalar(1)}));
      return onnx.div(total, onnx.cast(count, x.dtype()));
    }
    default:
      return std::nullopt;
  }
}

// Greatest, least and products: of one axis after the other, all of which stay with size 1.
Value axis_by_axis(const Composite& call, Op op, std::int64_t axes) {
  Emit& onnx = call.onnx;
  Value x = call.input(0);
  const auto reduced = [&](Value y, Value over) {
    if (op == Op::kReduceMin) return onnx.reduce_min(y, over, {.keepdims = 1});
    if (op == Op::kReduceProd) return onnx.reduce_prod(y, over, {.keepdims = 1});
    return onnx.reduce_max(y, over, {.keepdims = 1});
  };
  if (axes == 0) return reduced(x, {});
  const bool may_be_empty = has_empty_axis(x);
  for (std::int64_t i = 0; i < axes; ++i) {
    const Value place = onnx.gather(call.input(1), onnx.ints({i}));
    const ComputedAxis axis(onnx, x, place, {.may_be_empty = may_be_empty});
    const Value y = axis.restored(reduced(axis.joined(), onnx.ints({ComputedAxis::kPlace})));
    Emit::set_type(y, x.dtype(), Shape(x.shape().size()));
    x = y;
  }
  return x;
}

// Without the axes of size 1 that a reduction left.
Value without_axes(const Composite& call, Value x, std::int64_t axes) {
  if (call.integer("keepdims", 1) != 0) return x;
  if (axes > 0) return call.onnx.Operators::squeeze(x, call.input(1));
  return call.onnx.reshape(x, Shape{});
}

// Less the greatest element, as by the operator's definition.
Value log_sum_exp(const Composite& call, std::int64_t axes) {
  Emit& onnx = call.onnx;
  const Value x = call.input(0), greatest = axis_by_axis(call, Op::kReduceMax, axes);
  const Value finite = onnx.where(onnx.is_inf(greatest), onnx.zero(x.dtype()), greatest);
  const Value sum = onnx.reduce_sum(onnx.exp(onnx.sub(x, finite)), call.input(1), {.keepdims = 1});
  return without_axes(call, onnx.add(onnx.log(sum), finite), axes);
}

}  // namespace

std::optional<Values> reduce_over_computed_axes(const Composite& call, Op op) {
  Emit& onnx = call.onnx;
  const Value x = call.input(0), axes = call.input(1);
  if (!x || !axes || !x.has_rank()) return std::nullopt;
  const Expr count = axes.has_rank() && axes.rank() == 1 ? axes.dim(0) : Expr();
  const bool is_counted = count.is_constant();
  if (call.integer("noop_with_empty_axes", 0) != 0 && (!is_counted || count.is(0)))
    return std::nullopt;
  const bool is_of_reals = op == Op::kReduceL2 || op == Op::kReduceLogSum ||
                           op == Op::kReduceLogSumExp || op == Op::kReduceMean;
  if (is_of_reals && !base::is_floating(x.dtype())) return std::nullopt;
  // Sums of half precision are made in single precision, as the kernels of these operators do.
  const Value wide = is_half(x.dtype()) ? onnx.cast(x, DType::kFloat32) : x;
  if (const auto y = by_sums(call, op, wide)) return Values{onnx.cast(*y, x.dtype())};
  if (!is_counted || count.value() > x.rank()) return std::nullopt;
  if (op == Op::kReduceLogSumExp) return Values{log_sum_exp(call, count.value())};
  return Values{without_axes(call, axis_by_axis(call, op, count.value()), count.value())};
}

Value pads_of_all_axes(Emit& onnx, Value pads, Value axes, std::int64_t rank) {
  const Value places = counted_from_zero(onnx, axes, rank);
  const Value ends = onnx.add(places, onnx.int_scalar(rank));
  const Value none = onnx.constant(Tensor::filled_int(DType::kInt64, {2 * rank}, 0));
  return onnx.scatter_elements(none, onnx.concat({places, ends}, 0), pads);
}

}  // namespace sardonyx::onnx
