#include "aten/reduction/vector_norm.h"

#include <algorithm>
#include <cmath>

#include "aten/reduction/reduction_axes.h"

namespace sardonyx::aten {
Value vector_norm(Emit& onnx, Value x, const std::vector<std::int64_t>& axes, bool keep,
                  double order) {
  const auto sum = [&](Value of) { return onnx.reduce("ReduceSum", of, axes, keep); };
  const Value magnitude = onnx.abs(x);
  if (std::isinf(order))
    return extreme_over(onnx, order > 0 ? "ReduceMax" : "ReduceMin", magnitude, axes, keep);
  if (order == 0) {
    return sum(onnx.cast(onnx.not_(onnx.equal(x, onnx.zero(x.dtype()))), x.dtype()));
  }
  // Over axes of size 1 PyTorch takes the magnitude itself, whose powers may overflow.
  const auto single = [&](std::int64_t axis) { return x.dim(axis).is(1); };
  if (std::ranges::all_of(axes, single)) return keep ? magnitude : onnx.squeeze(magnitude, axes);
  if (order == 1) return sum(magnitude);
  if (order == 2) return onnx.sqrt(sum(onnx.mul(x, x)));
  const Value powers = onnx.pow(magnitude, onnx.scalar(order, x.dtype()));
  return onnx.pow(sum(powers), onnx.scalar(1 / order, x.dtype()));
}

}  // namespace sardonyx::aten
