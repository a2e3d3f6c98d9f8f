// Sums, means, products, extremes and truth over axes.
#include <limits>

#include "aten/elementwise/long_integers.h"
#include "aten/families.h"
#include "aten/reduction/prefix_scan.h"
#include "aten/reduction/reduction_axes.h"

namespace sardonyx::aten {
namespace {

Value reduced(const Call& call, Emit& onnx, std::string_view op, Value x) {
  const std::vector<std::int64_t> axes = reduction_axes(call, x);
  return axes.empty() ? x : onnx.reduce(op, x, axes, keeps_dims(call));
}

// Integers and bools sum in int64 (the result's type) and cannot overflow the narrow type on the
// way.
Outputs sum(const Call& call, Emit& onnx) {
  const Value self = reduced_tensor(call);
  const Value x = cast_to_result(onnx, call, self);
  const std::vector<std::int64_t> axes = reduction_axes(call, x);
  return {axes.empty() ? x : whole_sum(onnx, x, self.dtype(), axes, keeps_dims(call))};
}

// Summed over what was broadcast from the size to the shape of self.
Outputs sum_to_size(const Call& call, Emit& onnx) {
  const Value x = cast_to_result(onnx, call, call.tensor("self"));
  const Shape result = call.result_shape();
  const std::int64_t leading = x.rank() - call.result_rank();
  std::vector<std::int64_t> axes;
  for (std::int64_t axis = 0; axis < x.rank(); ++axis) {
    const bool wanted = axis >= leading;
    if (!wanted || !(result[static_cast<std::size_t>(axis - leading)] == x.dim(axis))) {
      axes.push_back(axis);
    }
  }
  if (axes.empty()) return {x};
  return {onnx.reshape(whole_sum(onnx, x, x.dtype(), axes, true), result)};
}

Outputs mean(const Call& call, Emit& onnx) {
  const Value x = cast_to_result(onnx, call, call.tensor("self"));
  const std::vector<std::int64_t> axes = reduction_axes(call, x);
  if (reduced_count(x, axes).is(0)) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    return {onnx.full(call.result_shape(), onnx.scalar(nan, x.dtype()))};
  }
  return {mean_over(onnx, x, axes, keeps_dims(call))};
}

// The last of running combinations by `operation`, for which there is no reduction; `neutral` is
// that of nothing.
Value combined(Emit& onnx, Value x, const std::vector<std::int64_t>& axes, bool keep_dims,
               Value (Emit::*operation)(Value, Value), Value neutral) {
  const auto combine = [&](const onnx::Values& earlier, const onnx::Values& later) {
    return onnx::Values{(onnx.*operation)(earlier.front(), later.front())};
  };
  for (const std::int64_t axis : axes) {
    Shape one = x.shape();
    one[static_cast<std::size_t>(axis)] = 1;
    const Value padded = onnx.concat({onnx.full(one, neutral), x}, axis);
    const Value last = prefix_scan(onnx, {padded}, axis, combine).front();
    x = onnx.reshape(onnx.slice(last, axis, x.dim(axis), x.dim(axis) + 1), one);
  }
  return keep_dims ? x : onnx.squeeze(x, axes);
}

Outputs prod(const Call& call, Emit& onnx) {
  const Value x = cast_to_result(onnx, call, reduced_tensor(call));
  const std::vector<std::int64_t> axes = reduction_axes(call, x);
  // These wrap round; ONNX Runtime's ReduceProd goes through double.
  if (x.dtype() == DType::kInt64 && !axes.empty()) {
    return {combined(onnx, x, axes, keeps_dims(call), &Emit::mul, onnx.int_scalar(1))};
  }
  return {reduced(call, onnx, "ReduceProd", x)};
}

// The bits of all elements as int64 or double, combined by "exclusive or".
Outputs hash_tensor(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  if (call.integer("mode") != 0) call.refuse("hash_tensor with another mode than 0");
  const bool floats = base::is_floating(self.dtype());
  const Value bits = floats ? onnx.bit_cast(onnx.cast(self, DType::kFloat64), {.to = DType::kInt64})
                            : onnx.cast(self, DType::kInt64);
  const std::vector<std::int64_t> axes = reduction_axes(call, bits);
  const Value hash =
      combined(onnx, bits, axes, keeps_dims(call), &Emit::bitwise_xor, onnx.int_scalar(0));
  return {cast_to_result(onnx, call, hash)};
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
  const Value self = reduced_tensor(call);
  const std::vector<std::int64_t> axes = reduction_axes(call, self);
  if (self.dtype() == DType::kInt64 && !axes.empty()) {
    return whole_extreme(onnx, self, axes, keeps_dims(call), op == "ReduceMax");
  }
  const bool truth = self.dtype() == DType::kBool;
  const Value x = truth ? onnx.cast(self, DType::kInt32) : self;
  const Value result = with_nans(call, onnx, x, reduced(call, onnx, op, x));
  return truth ? onnx.cast(result, DType::kBool) : result;
}

Outputs aminmax(const Call& call, Emit& onnx) {
  return {extreme(call, onnx, "ReduceMin"), extreme(call, onnx, "ReduceMax")};
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
    {"aten::_aminmax(Tensor self) -> (Tensor, Tensor)", aminmax},
    {"aten::_aminmax.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor, Tensor)", aminmax},
    {"aten::_is_all_true(Tensor self) -> Tensor", all},
    {"aten::_is_any_true(Tensor self) -> Tensor", any},
    {"aten::all(Tensor self) -> Tensor", all},
    {"aten::all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", all},
    {"aten::all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", all},
    {"aten::amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", amax},
    {"aten::amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", amin},
    {"aten::aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor "
     "max)",
     aminmax},
    {"aten::any(Tensor self) -> Tensor", any},
    {"aten::any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", any},
    {"aten::any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", any},
    {"aten::hash_tensor(Tensor self, int[1] dim=[], *, bool keepdim=False, int mode=0) -> Tensor",
     hash_tensor},
    {"aten::max(Tensor self) -> Tensor", amax},
    {"aten::mean(Tensor self, *, ScalarType? dtype=None) -> Tensor", mean},
    {"aten::mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> "
     "Tensor",
     mean},
    {"aten::min(Tensor self) -> Tensor", amin},
    {"aten::prod(Tensor self, *, ScalarType? dtype=None) -> Tensor", prod},
    {"aten::prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> "
     "Tensor",
     prod},
    {"aten::sum(Tensor self, *, ScalarType? dtype=None) -> Tensor", sum},
    {"aten::sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? "
     "dtype=None) -> Tensor",
     sum},
    {"aten::sum_to_size(Tensor self, SymInt[] size) -> Tensor", sum_to_size},
};

}  // namespace

std::span<const Row> reduction_rows() { return kRows; }

}  // namespace sardonyx::aten
