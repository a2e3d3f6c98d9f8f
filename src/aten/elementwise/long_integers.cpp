#include "aten/elementwise/long_integers.h"

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

namespace {

// x with the axes as its last one, and the shape of what is left when that has become one number.
struct Rows {
  Value rows;
  Shape result;
};

Rows as_rows(Emit& onnx, Value x, const std::vector<std::int64_t>& axes, bool keep_dims) {
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
  return {onnx.reshape(onnx.transpose(x, order), kept), result};
}

// Whether no tensor that fits into memory sums to more than double holds exactly.
bool stays_small(Value x, DType summed) {
  if (x->producer && x->producer->op_type == "Cast") summed = x->producer->input(0)->dtype;
  return summed == DType::kBool || base::bit_width(summed) <= 16;
}

}  // namespace

// The first of TopK along the axes as one.
Value whole_extreme(Emit& onnx, Value x, const std::vector<std::int64_t>& axes, bool keep_dims,
                    bool largest) {
  const auto [rows, result] = as_rows(onnx, x, axes, keep_dims);
  const auto found = onnx.topk(rows, onnx.ints({1}), {.axis = -1, .largest = largest ? 1 : 0});
  return onnx.reshape(found[0], result);
}

// A product with ones, which is ten times faster than ReduceSum too.
Value whole_sum(Emit& onnx, Value x, DType summed, const std::vector<std::int64_t>& axes,
                bool keep_dims) {
  if (x.dtype() != DType::kInt64 || stays_small(x, summed)) {
    return onnx.reduce("ReduceSum", x, axes, keep_dims);
  }
  const auto [rows, result] = as_rows(onnx, x, axes, keep_dims);
  const Value ones = onnx.full(Shape{rows.dim(-1), 1}, onnx.int_scalar(1));
  return onnx.reshape(onnx.matmul(rows, ones), result);
}

}  // namespace sardonyx::aten
