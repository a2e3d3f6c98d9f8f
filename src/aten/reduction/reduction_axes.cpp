#include "aten/reduction/reduction_axes.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "onnx/emit/occupied.h"

namespace sardonyx::aten {

Value reduced_tensor(const Call& call) {
  return call.tensor(call.captured().schema->find("inp") ? "inp" : "self");
}

std::vector<std::int64_t> reduction_axes(const Call& call, Value x) {
  std::vector<std::int64_t> axes;
  const auto& schema = *call.captured().schema;
  const std::string_view name = schema.find("dims") ? "dims" : "dim";
  if (schema.find(name) && call.has(name)) axes = call.axes(name, x.rank());
  if (x.rank() == 0) return {};
  if (axes.empty()) {
    axes.resize(static_cast<std::size_t>(x.rank()));
    std::iota(axes.begin(), axes.end(), 0);
  }
  return axes;
}

bool keeps_dims(const Call& call) {
  return call.captured().schema->find("keepdim") && call.flag("keepdim");
}

Expr reduced_count(Value x, const std::vector<std::int64_t>& axes) {
  Expr count = 1;
  for (const std::int64_t axis : axes) {
    const Expr dim = x.dim(axis);
    // The capture says n - 1 of x[1:], which is 0 where n is.
    count = count * (symbolic::certainly_nonnegative(dim) ? dim : symbolic::max(dim, 0));
  }
  return count;
}

Value count_of_reduced(Emit& onnx, Value x, const std::vector<std::int64_t>& axes) {
  const Expr count = reduced_count(x, axes);
  if (onnx.can_size(count)) return onnx.size(count);
  // Sums of sizes that the capture could not compare have no name; the tensor has them all.
  Value product = onnx.int_scalar(1);
  for (const std::int64_t axis : axes) product = onnx.mul(product, onnx.dim_of(x, axis));
  return onnx.reshape(product, Shape{});
}

Value extreme_over(Emit& onnx, std::string_view op, Value x, const std::vector<std::int64_t>& axes,
                   bool keep_dims) {
  if (axes.empty()) return x;
  const Value extreme = onnx.reduce(op, x, axes, keep_dims);
  if (!base::is_floating(x.dtype())) return extreme;
  // Kernels may lose NaN in extremes. A sum of squares is NaN where an element is, and only there,
  // and is quicker than a question of each element.
  const Value sum = onnx.reduce("ReduceSum", onnx.mul(x, x), axes, keep_dims);
  return onnx.where(onnx.is_nan(sum), sum, extreme);
}

Value mean_over(Emit& onnx, Value x, const std::vector<std::int64_t>& axes, bool keep_dims) {
  const Value mean = onnx.reduce("ReduceMean", x, axes, keep_dims);
  const Expr count = reduced_count(x, axes);
  const auto holds_elements = [&](std::int64_t axis) {
    return symbolic::certainly_positive(x.dim(axis)) || onnx::is_of_windows(x.info(), x.dim(axis));
  };
  if (symbolic::certainly_positive(count) || std::ranges::all_of(axes, holds_elements)) return mean;
  const Value nan = onnx.scalar(std::numeric_limits<double>::quiet_NaN(), x.dtype());
  return onnx.where(onnx.equal(count_of_reduced(onnx, x, axes), onnx.int_scalar(0)), nan, mean);
}

}  // namespace sardonyx::aten
