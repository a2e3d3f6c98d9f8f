// What stands at a rank: kthvalue, medians, quantiles; and the most frequent element.
#include <limits>
#include <numeric>

#include "aten/families.h"
#include "aten/ordering/ordering.h"

namespace sardonyx::aten {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The element of each row at `rank` (int64, the axis of size 1), and its index in x.
Outputs at_rank(const Call& call, Emit& onnx, const Ordered& sorted, Value rank,
                std::int64_t axis) {
  const Value value = onnx.gather_elements(sorted.values, rank, {.axis = axis});
  const Value index = onnx.gather_elements(sorted.indices, rank, {.axis = axis});
  if (call.flag("keepdim")) return {value, index};
  return {onnx.squeeze(value, {axis}), onnx.squeeze(index, {axis})};
}

Shape with_axis_of_one(Value x, std::int64_t axis) {
  Shape shape = x.shape();
  shape[static_cast<std::size_t>(axis)] = 1;
  return shape;
}

Outputs msort(const Call& call, Emit& onnx) {
  return {in_order(onnx, call.tensor("self"), 0).values};
}

Outputs kthvalue(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  if (self.rank() == 0) return {self, onnx.int_scalar(0)};
  const std::int64_t axis = call.axis("dim", self.rank());
  const Value rank = onnx.sub(onnx.size(call.size("k")), onnx.int_scalar(1));
  return at_rank(call, onnx, in_order(onnx, self, axis),
                 onnx.expand(rank, with_axis_of_one(self, axis)), axis);
}

// The rank of the lower median. NaNs, which sort last, are the median where there are any, or (for
// nanmedian) do not count.
Value median_rank(Emit& onnx, Value x, std::int64_t axis, bool ignore_nan) {
  const Value count = onnx.size(x.dim(axis)), one = onnx.int_scalar(1), two = onnx.int_scalar(2);
  const Value zero = onnx.int_scalar(0);
  const Shape shape = with_axis_of_one(x, axis);
  if (!base::is_floating(x.dtype())) {
    return onnx.expand(onnx.div(onnx.sub(count, one), two), shape);
  }
  const Value nans = count_nans(onnx, x, axis);
  const Value numbers = onnx.sub(count, nans);
  const Value middle = onnx.div(onnx.max({onnx.sub(numbers, one), zero}), two);
  return ignore_nan ? middle : onnx.where(onnx.greater(nans, zero), numbers, middle);
}

Outputs median_along(const Call& call, Emit& onnx, bool ignore_nan) {
  const Value self = call.tensor("self");
  if (self.rank() == 0) return {self, onnx.int_scalar(0)};
  const std::int64_t axis = call.axis("dim", self.rank());
  return at_rank(call, onnx, in_order(onnx, self, axis), median_rank(onnx, self, axis, ignore_nan),
                 axis);
}

Outputs median_dim(const Call& call, Emit& onnx) { return median_along(call, onnx, false); }
Outputs nanmedian_dim(const Call& call, Emit& onnx) { return median_along(call, onnx, true); }

Outputs median_of_all(const Call& call, Emit& onnx, bool ignore_nan) {
  const Value self = call.tensor("self");
  if (self.element_count().is(0)) {
    if (!base::is_floating(self.dtype())) call.refuse("the median of no integers");
    return {onnx.scalar(kNan, self.dtype())};
  }
  const Value x = onnx.flatten_to_1d(self);
  const Value sorted = in_order(onnx, x, 0).values;
  const Value found = onnx.gather(sorted, median_rank(onnx, x, 0, ignore_nan));
  return {onnx.reshape(found, Shape{})};
}

Outputs median(const Call& call, Emit& onnx) { return median_of_all(call, onnx, false); }
Outputs nanmedian(const Call& call, Emit& onnx) { return median_of_all(call, onnx, true); }

// The smallest of the most frequent elements, at its last place: runs of equal elements in order,
// numbered, and counted by adding ones at their numbers.
Outputs mode(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  if (self.rank() == 0) return {self, onnx.int_scalar(0)};
  const std::int64_t axis = call.axis("dim", self.rank());
  const Ordered sorted = in_order(onnx, self, axis);
  const Value one = onnx.int_scalar(1);
  const Value starts = onnx.cast(starts_run(onnx, sorted.values, axis), DType::kInt64);
  const Value run = onnx.sub(onnx.cumsum(starts, onnx.int_scalar(axis)), one);
  const Value zeros = onnx.full(self.shape(), onnx.int_scalar(0));
  const Value ones = onnx.full(self.shape(), one);
  const Value counts = onnx.scatter_elements(zeros, run, ones, {.axis = axis, .reduction = "add"});
  const Value frequency = onnx.gather_elements(counts, run, {.axis = axis});
  const Value first = onnx.arg_max(frequency, {.axis = axis, .keepdims = 1});
  const Value length = onnx.gather_elements(frequency, first, {.axis = axis});
  return at_rank(call, onnx, sorted, onnx.sub(onnx.add(first, length), one), axis);
}

// a + w * (b - a), from the nearer end, as PyTorch's lerp.
Value between(Emit& onnx, Value a, Value b, Value weight) {
  const Value way = onnx.sub(b, a), one = onnx.one(a.dtype());
  const Value from_a = onnx.add(a, onnx.mul(weight, way));
  const Value from_b = onnx.sub(b, onnx.mul(way, onnx.sub(one, weight)));
  return onnx.where(onnx.less(weight, onnx.scalar(0.5, a.dtype())), from_a, from_b);
}

// The elements of the last axis at real ranks.
Value interpolated(const Call& call, Emit& onnx, Value sorted, Value ranks) {
  const std::string how = call.text("interpolation");
  if (how == "lower") ranks = onnx.floor(ranks);
  if (how == "higher") ranks = onnx.ceil(ranks);
  if (how == "nearest") ranks = onnx.round(ranks);
  const auto at = [&](Value places) {
    return onnx.gather_elements(sorted, onnx.cast(places, DType::kInt64), {.axis = -1});
  };
  const Value below = onnx.floor(ranks);
  if (how != "linear" && how != "midpoint") return at(below);
  const Value weight =
      how == "midpoint" ? onnx.scalar(0.5, sorted.dtype()) : onnx.sub(ranks, below);
  return between(onnx, at(below), at(onnx.ceil(ranks)), weight);
}

// Rows along the last axis: all elements, or those of `dim`.
Value quantile_rows(const Call& call, Emit& onnx, Value self) {
  if (!call.has("dim") || self.rank() == 0) return onnx.flatten_to_1d(self);
  std::vector<std::int64_t> order(static_cast<std::size_t>(self.rank()));
  std::iota(order.begin(), order.end(), 0);
  const std::int64_t axis = call.axis("dim", self.rank());
  order.erase(order.begin() + axis);
  order.push_back(axis);
  return onnx.transpose(self, order);
}

Outputs quantile_of(const Call& call, Emit& onnx, bool ignore_nan) {
  const Value rows = quantile_rows(call, onnx, call.tensor("self"));
  const DType dtype = rows.dtype();
  const std::int64_t rank = rows.rank();
  const bool several = call.argument("q").get<program::Value*>() && call.tensor("q").rank() > 0;
  const Value q = call.argument("q").get<program::Value*>()
                      ? onnx.flatten_to_1d(call.tensor("q"))
                      : onnx.unsqueeze(onnx.scalar(call.number("q"), dtype), {0});
  const Value sorted = in_order(onnx, rows, rank - 1).values;
  const Value nans = count_nans(onnx, rows, rank - 1);
  const Value any_nan = onnx.greater(nans, onnx.int_scalar(0));
  const Value count = onnx.size(rows.dim(-1)), last = onnx.sub(count, onnx.int_scalar(1));
  Value ranks;
  if (ignore_nan) {
    const Value top = onnx.cast(onnx.sub(last, nans), dtype);
    const Value wanted = onnx.mul(q, top);
    ranks = onnx.where(onnx.less(wanted, onnx.zero(dtype)), onnx.zero(dtype), wanted);
  } else {
    // The last element is NaN where any is.
    ranks = onnx.where(any_nan, onnx.cast(last, dtype), onnx.mul(q, onnx.cast(last, dtype)));
  }
  Value found = interpolated(call, onnx, sorted, ranks);
  if (several) {  // the axis of q comes first
    std::vector<std::int64_t> order(static_cast<std::size_t>(rank));
    std::iota(order.begin(), order.end(), -1);
    order.front() = rank - 1;
    found = onnx.transpose(found, order);
  }
  return {onnx.reshape(found, call.result_shape())};
}

Outputs quantile(const Call& call, Emit& onnx) { return quantile_of(call, onnx, false); }
Outputs nanquantile(const Call& call, Emit& onnx) { return quantile_of(call, onnx, true); }

constexpr Row kRows[] = {
    {"aten::kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False) -> (Tensor values, "
     "Tensor indices)",
     kthvalue},
    {"aten::median(Tensor self) -> Tensor", median},
    {"aten::median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor "
     "indices)",
     median_dim},
    {"aten::mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
     mode},
    {"aten::msort(Tensor self) -> Tensor", msort},
    {"aten::nanmedian(Tensor self) -> Tensor", nanmedian},
    {"aten::nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor "
     "indices)",
     nanmedian_dim},
    {"aten::nanquantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str "
     "interpolation=\"linear\") -> Tensor",
     nanquantile},
    {"aten::nanquantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str "
     "interpolation=\"linear\") -> Tensor",
     nanquantile},
    {"aten::quantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str "
     "interpolation=\"linear\") -> Tensor",
     quantile},
    {"aten::quantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str "
     "interpolation=\"linear\") -> Tensor",
     quantile},
};

}  // namespace

std::span<const Row> order_statistics_rows() { return kRows; }

}  // namespace sardonyx::aten
