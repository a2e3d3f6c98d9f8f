// Counts of elements in bins.
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

// ScatterElements adds from opset 16 on.
// How many indices (int64, 1-d) fall on each of `bins`; those equal to `bins` are not counted.
Value counted(Emit& onnx, Value index, Value weights, std::int64_t bins) {
  const Value zeros = onnx.full(Shape{bins + 1}, onnx.zero(weights.dtype()));
  const Value counts =
      onnx.scatter_elements(zeros, index, weights, {.axis = 0, .reduction = "add"});
  return onnx.slice(counts, 0, 0, bins);
}

// Equal bins over [min, max]; the last one takes max itself. NaN and what is outside counts
// nowhere.
Outputs histc(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const DType dtype = self.dtype();
  const std::int64_t bins = call.integer("bins");
  const Scalar low = call.scalar("min"), high = call.scalar("max");
  // The index is computed in double, in which float32 data loses nothing.
  const Value x = onnx.cast(onnx.flatten_to_1d(self), DType::kFloat64);
  const Value least = scalar_value(onnx, low, DType::kFloat64);
  const Value most = scalar_value(onnx, high, DType::kFloat64);
  if (low.is_constant() && high.is_constant() && low.as_double() == high.as_double()) {
    call.refuse("histc over the range of the data itself", "give min and max, min < max");
  }
  const Value scaled =
      onnx.div(onnx.mul(onnx.sub(x, least), onnx.scalar(static_cast<double>(bins), x.dtype())),
               onnx.sub(most, least));
  const Value inside = onnx.and_(onnx.greater_or_equal(x, least), onnx.less_or_equal(x, most));
  const Value bin = onnx.cast(onnx.where(inside, scaled, onnx.zero(x.dtype())), DType::kInt64);
  const Value last = onnx.min({bin, onnx.int_scalar(bins - 1)});
  const Value index = onnx.where(inside, last, onnx.int_scalar(bins));
  const Value ones = onnx.expand(onnx.one(DType::kFloat32), index.shape());
  return {onnx.cast(counted(onnx, index, ones, bins), dtype)};
}

constexpr Row kRows[] = {
    {"aten::histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor", 16, histc},
};

}  // namespace

std::span<const Row> histogram_rows() { return kRows; }

}  // namespace sardonyx::aten
