// Sums, means, products, extremes and truth over axes.
#include <limits>

#include "aten/families.h"
#include "aten/prefix_scan.h"
#include "aten/reduction_axes.h"
#include "aten/whole_extremes.h"

namespace sardonyx::aten {
namespace {

Value reduced(const Call& call, Emit& onnx, std::string_view op, Value x) {
  const std::vector<std::int64_t> axes = reduction_axes(call, x);
  return axes.empty() ? x : onnx.reduce(op, x, axes, keeps_dims(call));
}

// Integers and bools sum in int64 (the result's type) and cannot overflow the narrow type on the
// way.
Outputs sum(const Call& call, Emit& onnx) {
  const Value x = cast_to_result(onnx, call, call.tensor("self"));
  return {reduced(call, onnx, "ReduceSum", x)};
}

Outputs mean(const Call& call, Emit& onnx) {
  const Value x = cast_to_result(onnx, call, call.tensor("self"));
  // ONNX Runtime's mean of nothing is 0.
  if (reduced_count(x, reduction_axes(call, x)).is(0)) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    return {onnx.full(call.result_shape(), onnx.scalar(nan, x.dtype()))};
  }
  return {reduced(call, onnx, "ReduceMean", x)};
}

// The last of running products, which wrap round; ONNX Runtime's ReduceProd goes through double. A
// leading 1 is the product of nothing.
Value whole_product(Emit& onnx, Value x, const std::vector<std::int64_t>& axes, bool keep_dims) {
  const auto multiplied = [&](const onnx::Values& earlier, const onnx::Values& later) {
    return onnx::Values{onnx.mul(earlier.front(), later.front())};
  };
  for (const std::int64_t axis : axes) {
    Shape one = x.shape();
    one[static_cast<std::size_t>(axis)] = 1;
    const Value padded = onnx.concat({onnx.full(one, onnx.one(x.dtype())), x}, axis);
    const Value last = prefix_scan(onnx, {padded}, axis, multiplied).front();
    x = onnx.reshape(onnx.slice(last, axis, x.dim(axis), x.dim(axis) + 1), one);
  }
  return keep_dims ? x : onnx.squeeze(x, axes);
}

Outputs prod(const Call& call, Emit& onnx) {
  const Value x = cast_to_result(onnx, call, call.tensor("self"));
  const std::vector<std::int64_t> axes = reduction_axes(call, x);
  if (x.dtype() == DType::kInt64 && !axes.empty()) {
    return {whole_product(onnx, x, axes, keeps_dims(call))};
  }
  return {reduced(call, onnx, "ReduceProd", x)};
}

// ReduceMax and ReduceMin of ONNX Runtime pass NaNs over; PyTorch lets them win.
Value with_nans(const Call& call, Emit& onnx, Value x, Value extreme) {
  if (!base::is_floating(x.dtype())) return extreme;
  const std::vector<std::int64_t> axes = reduction_axes(call, x);
  if (axes.empty()) return x;
  const Value any_nan =
      onnx.reduce("ReduceMax", onnx.cast(onnx.is_nan(x), DType::kInt32), axes, keeps_dims(call));
  const Value nan = onnx.scalar(std::numeric_limits<double>::quiet_NaN(), x.dtype());
  return onnx.where(onnx.cast(any_nan, DType::kBool), nan, extreme);
}

Value extreme(const Call& call, Emit& onnx, std::string_view op) {
  const Value self = call.tensor("self");
  const std::vector<std::int64_t> axes = reduction_axes(call, self);
  if (self.dtype() == DType::kInt64 && !axes.empty()) {
    return whole_extreme(onnx, self, axes, keeps_dims(call), op == "ReduceMax");
  }
  const bool truth = self.dtype() == DType::kBool;
  const Value x = truth ? onnx.cast(self, DType::kInt32) : self;
  const Value result = with_nans(call, onnx, x, reduced(call, onnx, op, x));
  return truth ? onnx.cast(result, DType::kBool) : result;
}

Outputs amax(const Call& call, Emit& onnx) { return {extreme(call, onnx, "ReduceMax")}; }
Outputs amin(const Call& call, Emit& onnx) { return {extreme(call, onnx, "ReduceMin")}; }

// uint8 in gives uint8 out; everything else gives bool.
Outputs any(const Call& call, Emit& onnx) {
  const Value x = onnx.cast(onnx.cast(call.tensor("self"), DType::kBool), DType::kInt32);
  // The greatest of nothing is the least integer: not above 0 either.
  const Value found = onnx.greater(reduced(call, onnx, "ReduceMax", x), onnx.zero(x.dtype()));
  return {cast_to_result(onnx, call, found)};
}

Outputs all(const Call& call, Emit& onnx) {
  const Value x = onnx.cast(onnx.cast(call.tensor("self"), DType::kBool), DType::kInt32);
  return {cast_to_result(onnx, call, reduced(call, onnx, "ReduceMin", x))};
}

constexpr Row kRows[] = {
    {"aten::_is_all_true(Tensor self) -> Tensor", 13, all},
    {"aten::_is_any_true(Tensor self) -> Tensor", 13, any},
    {"aten::all(Tensor self) -> Tensor", 13, all},
    {"aten::all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", 13, all},
    {"aten::all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", 13, all},
    {"aten::amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", 13, amax},
    {"aten::amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", 13, amin},
    {"aten::any(Tensor self) -> Tensor", 13, any},
    {"aten::any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", 13, any},
    {"aten::any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", 13, any},
    {"aten::max(Tensor self) -> Tensor", 13, amax},
    {"aten::mean(Tensor self, *, ScalarType? dtype=None) -> Tensor", 13, mean},
    {"aten::mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> "
     "Tensor",
     13, mean},
    {"aten::min(Tensor self) -> Tensor", 13, amin},
    {"aten::prod(Tensor self, *, ScalarType? dtype=None) -> Tensor", 13, prod},
    {"aten::prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> "
     "Tensor",
     13, prod},
    {"aten::sum(Tensor self, *, ScalarType? dtype=None) -> Tensor", 13, sum},
    {"aten::sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? "
     "dtype=None) -> Tensor",
     13, sum},
};

}  // namespace

std::span<const Row> reduction_rows() { return kRows; }

}  // namespace sardonyx::aten
