#include "aten/whole_extremes.h"

#include <algorithm>

namespace sardonyx::aten {

Value larger_of(Emit& onnx, Value a, Value b) {
  if (a.dtype() != DType::kInt64) return onnx.max({a, b});
  return onnx.where(onnx.greater(a, b), a, b);
}

Value smaller_of(Emit& onnx, Value a, Value b) {
  if (a.dtype() != DType::kInt64) return onnx.min({a, b});
  return onnx.where(onnx.less(a, b), a, b);
}

// The first of TopK along the axes as one.
Value whole_extreme(Emit& onnx, Value x, const std::vector<std::int64_t>& axes, bool keep_dims,
                    bool largest) {
  std::vector<std::int64_t> order;
  Shape kept, result;
  Expr count = 1;
  for (std::int64_t axis = 0; axis < x.rank(); ++axis) {
    if (std::ranges::find(axes, axis) != axes.end()) {
      count = count * x.dim(axis);
      if (keep_dims) result.emplace_back(1);
      continue;
    }
    order.push_back(axis);
    kept.push_back(x.dim(axis));
    result.push_back(x.dim(axis));
  }
  order.insert(order.end(), axes.begin(), axes.end());
  kept.push_back(count);
  const Value rows = onnx.reshape(onnx.transpose(x, order), kept);
  const auto found = onnx.topk(rows, onnx.ints({1}), {.axis = -1, .largest = largest ? 1 : 0});
  return onnx.reshape(found[0], result);
}

}  // namespace sardonyx::aten
