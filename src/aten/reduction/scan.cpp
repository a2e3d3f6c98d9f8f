// Running sums, products and extremes along an axis.
#include "aten/elementwise/operands.h"
#include "aten/families.h"
#include "aten/reduction/prefix_scan.h"

namespace sardonyx::aten {
namespace {

using onnx::Values;

Outputs cumsum(const Call& call, Emit& onnx) {
  const Value x = cast_to_result(onnx, call, call.tensor("self"));
  if (x.rank() == 0) return {x};
  return {onnx.cumsum(x, onnx.int_scalar(call.axis("dim", x.rank())))};
}

Outputs cumprod(const Call& call, Emit& onnx) {
  const Value x = cast_to_result(onnx, call, call.tensor("self"));
  if (x.rank() == 0) return {x};
  return {onnx.cumprod(x, onnx.int_scalar(call.axis("dim", x.rank())))};
}

// The extreme so far and where it was last met; a NaN is an extreme that only NaNs replace.
Outputs running_extreme(const Call& call, Emit& onnx, bool largest) {
  const Value self = call.tensor("self");
  if (self.rank() == 0) return {self, onnx.int_scalar(0)};
  const std::int64_t axis = call.axis("dim", self.rank());
  const bool truth = self.dtype() == DType::kBool;
  const Value x = truth ? onnx.cast(self, DType::kInt32) : self;
  Shape along(self.shape().size(), 1);
  along[static_cast<std::size_t>(axis)] = x.dim(axis);
  const Value index = onnx.range(x.dim(axis));
  const Value places = onnx.expand(onnx.reshape(index, along), self.shape());
  const auto combine = [&](const Values& earlier, const Values& later) {
    const Value a = earlier[0], b = later[0];
    Value taken = largest ? onnx.greater_or_equal(b, a) : onnx.less_or_equal(b, a);
    if (base::is_floating(b.dtype())) taken = onnx.or_(taken, onnx.is_nan(b));
    return Values{onnx.where(taken, b, a), onnx.where(taken, later[1], earlier[1])};
  };
  const Values found = prefix_scan(onnx, {x, places}, axis, combine);
  return {onnx.cast(found[0], self.dtype()), found[1]};
}

Outputs cummax(const Call& call, Emit& onnx) { return running_extreme(call, onnx, true); }
Outputs cummin(const Call& call, Emit& onnx) { return running_extreme(call, onnx, false); }

// log(exp(a) + exp(b)) of what came before and what comes after; equal infinities are their own
// sum.
Outputs logcumsumexp(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const Value x = onnx.cast(self, computing_type(call.result_dtype()));
  if (x.rank() == 0) return {self};
  const auto sum = [&](const Values& earlier, const Values& later) {
    const Value a = earlier.front(), b = later.front();
    const Value tail = log_one_plus(onnx, onnx.exp(onnx.neg(onnx.abs(onnx.sub(a, b)))));
    const Value infinite = onnx.and_(onnx.equal(a, b), onnx.is_inf(a));
    return Values{onnx.where(infinite, a, onnx.add(onnx.max({a, b}), tail))};
  };
  const Values found = prefix_scan(onnx, {x}, call.axis("dim", x.rank()), sum);
  return {cast_to_result(onnx, call, found.front())};
}

constexpr Row kRows[] = {
    {"aten::_logcumsumexp(Tensor self, int dim) -> Tensor", logcumsumexp},
    {"aten::cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)", cummax},
    {"aten::cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)", cummin},
    {"aten::cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", cumprod},
    {"aten::cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", cumsum},
    {"aten::logcumsumexp(Tensor self, int dim) -> Tensor", logcumsumexp},
};

}  // namespace

std::span<const Row> scan_rows() { return kRows; }

}  // namespace sardonyx::aten
