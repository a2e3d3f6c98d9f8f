// Elements in order, as PyTorch orders them: stable, NaN above everything.
#pragma once

#include "aten/call.h"

namespace sardonyx::aten {

struct Ordered {
  Value values, indices;
};

// An axis of x, ascending. Equal elements keep their order; NaNs come last.
Ordered in_order(Emit& onnx, Value x, std::int64_t axis);

// How many NaNs stand along an axis: int64, the axis kept with size 1.
Value count_nans(Emit& onnx, Value x, std::int64_t axis);

// Whether element i of an axis differs from element i - 1: bool, the first one always. NaN differs
// from NaN.
Value starts_run(Emit& onnx, Value x, std::int64_t axis);

// Where each value would have to be inserted to keep `sorted` in order: before equal elements, or
// behind them (`right`). `sorted` is 1-d, or has the leading sizes of `values`. A binary search
// with PyTorch's own comparisons, so that NaN and what is not in order give its answers too.
Value insertion_points(Emit& onnx, Value sorted, Value values, bool right);

}  // namespace sardonyx::aten
