// Reductions that look at each element first: NaNs left out, nonzeros counted, exponentials summed;
// covariances.
#include <limits>

#include "aten/elementwise/operands.h"
#include "aten/families.h"
#include "aten/reduction/reduction_axes.h"

namespace sardonyx::aten {
namespace {

Value total(const Call& call, Emit& onnx, Value x) {
  const std::vector<std::int64_t> axes = reduction_axes(call, x);
  return axes.empty() ? x : onnx.reduce("ReduceSum", x, axes, keeps_dims(call));
}

Outputs count_nonzero(const Call& call, Emit& onnx) {
  const Value truth = onnx.cast(call.tensor("self"), DType::kBool);
  return {total(call, onnx, onnx.cast(truth, DType::kInt64))};
}

Value without_nans(Emit& onnx, Value x) {
  if (!base::is_floating(x.dtype())) return x;
  return onnx.where(onnx.is_nan(x), onnx.zero(x.dtype()), x);
}

Outputs nansum(const Call& call, Emit& onnx) {
  const Value x = onnx.cast(call.tensor("self"), computing_type(call.result_dtype()));
  return {cast_to_result(onnx, call, total(call, onnx, without_nans(onnx, x)))};
}

Outputs nanmean(const Call& call, Emit& onnx) {
  const Value x = onnx.cast(call.tensor("self"), computing_type(call.result_dtype()));
  const Value numbers = onnx.cast(onnx.not_(onnx.is_nan(x)), x.dtype());
  const Value sum = total(call, onnx, without_nans(onnx, x));
  return {cast_to_result(onnx, call, onnx.div(sum, total(call, onnx, numbers)))};
}

// The largest exponent is taken out, where it is finite, so that nothing overflows.
Outputs logsumexp(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const Value x = onnx.cast(self, computing_type(call.result_dtype()));
  const std::vector<std::int64_t> axes = reduction_axes(call, x);
  if (axes.empty()) return {cast_to_result(onnx, call, self)};
  const double infinity = std::numeric_limits<double>::infinity();
  if (reduced_count(x, axes).is(0)) {
    return {onnx.full(call.result_shape(), onnx.scalar(-infinity, call.result_dtype()))};
  }
  const Value largest = onnx.reduce("ReduceMax", x, axes, true);
  const Value shift = onnx.where(onnx.is_inf(largest), onnx.zero(x.dtype()), largest);
  const Value sum = onnx.reduce("ReduceSum", onnx.exp(onnx.sub(x, shift)), axes, true);
  const Value y = onnx.add(onnx.log(sum), shift);
  return {cast_to_result(onnx, call, call.flag("keepdim") ? y : onnx.squeeze(y, axes))};
}

// --- covariance

struct Weights {
  Value each;  // [n], absent: all 1
  Value sum;   // 0-d
  Value norm;  // what the products are divided by
};

Weights weights_of(const Call& call, Emit& onnx, Value x) {
  const DType dtype = x.dtype();
  Weights w;
  const Value frequencies =
      call.has("fweights") ? onnx.cast(call.tensor("fweights"), dtype) : Value();
  const Value importance =
      call.has("aweights") ? onnx.cast(call.tensor("aweights"), dtype) : Value();
  w.each = frequencies && importance ? onnx.mul(frequencies, importance)
           : frequencies             ? frequencies
                                     : importance;
  const auto sum = [&](Value v) { return onnx.reduce_sum(v, {}, {.keepdims = 0}); };
  w.sum = w.each ? sum(w.each) : onnx.cast(onnx.size(x.dim(1)), dtype);
  Value taken = onnx.scalar(static_cast<double>(call.integer("correction")), dtype);
  if (importance) {
    taken = onnx.mul(taken, onnx.div(sum(onnx.mul(w.each, importance)), w.sum));
  }
  const Value rest = onnx.sub(w.sum, taken), zero = onnx.zero(dtype);
  w.norm = onnx.where(onnx.less(rest, zero), zero, rest);
  return w;
}

// Of variables that are rows: x is [variables, n].
Value covariance(Emit& onnx, Value x, const Weights& w) {
  const std::vector<std::int64_t> across = {1};
  const Value weighted = w.each ? onnx.mul(x, w.each) : x;
  const Value mean = onnx.div(onnx.reduce("ReduceSum", weighted, across, true), w.sum);
  const Value centered = onnx.sub(x, mean);
  const Value other = w.each ? onnx.mul(centered, w.each) : centered;
  return onnx.div(onnx.matmul(centered, onnx.swap_axes(other, 0, 1)), w.norm);
}

Value variables_of(const Call& call, Emit& onnx) {
  const Value self = onnx.cast(call.tensor("self"), computing_type(call.result_dtype()));
  return self.rank() < 2 ? onnx.reshape(self, {1, self.element_count()}) : self;
}

Outputs cov(const Call& call, Emit& onnx) {
  const Value x = variables_of(call, onnx);
  const Value c = covariance(onnx, x, weights_of(call, onnx, x));
  return {cast_to_result(onnx, call, onnx.reshape(c, call.result_shape()))};
}

Outputs corrcoef(const Call& call, Emit& onnx) {
  const Value x = variables_of(call, onnx);
  const DType dtype = x.dtype();
  Weights w;
  w.sum = onnx.cast(onnx.size(x.dim(1)), dtype);
  w.norm = onnx.max({onnx.sub(w.sum, onnx.one(dtype)), onnx.zero(dtype)});
  const Value c = covariance(onnx, x, w);
  if (call.result_rank() == 0) {  // of one variable with itself: 1, or NaN where it never varies
    return {cast_to_result(onnx, call, onnx.reshape(onnx.div(c, c), Shape{}))};
  }
  const std::vector<std::int64_t> across = {1};
  const Value index = onnx.range(x.dim(0));
  const Value variance = onnx.gather_elements(c, onnx.unsqueeze(index, across), {.axis = 1});
  const Value deviation = onnx.sqrt(variance);  // [variables, 1]
  const Value r = onnx.div(onnx.div(c, deviation), onnx.swap_axes(deviation, 0, 1));
  const Value one = onnx.one(dtype), minus = onnx.scalar(-1, dtype);
  const Value high = onnx.where(onnx.greater(r, one), one, r);
  return {cast_to_result(onnx, call, onnx.where(onnx.less(high, minus), minus, high))};
}

constexpr Row kRows[] = {
    {"aten::corrcoef(Tensor self) -> Tensor", corrcoef},
    {"aten::count_nonzero(Tensor self, int? dim=None) -> Tensor", count_nonzero},
    {"aten::count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor", count_nonzero},
    {"aten::cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> "
     "Tensor",
     cov},
    {"aten::logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", logsumexp},
    {"aten::nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) "
     "-> Tensor",
     nanmean},
    {"aten::nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) "
     "-> Tensor",
     nansum},
    {"aten::special_logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", logsumexp},
};

}  // namespace

std::span<const Row> counting_rows() { return kRows; }

}  // namespace sardonyx::aten
