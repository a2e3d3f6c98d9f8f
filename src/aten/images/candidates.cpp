#include "aten/images/candidates.h"

#include <algorithm>

namespace sardonyx::aten {

Best best_of(Emit& onnx, Value candidates) {
  const std::span<const Expr> shape(candidates.shape());
  if (std::ranges::any_of(shape, [](Expr size) { return size.is(0); })) {
    // There is nothing to choose from.
    const auto results = shape.first(shape.size() - 1);
    return {onnx.full(results, onnx.zero(candidates.dtype())),
            onnx.full(results, onnx.int_scalar(0))};
  }
  Value index = onnx.arg_max(candidates, {.axis = -1, .keepdims = 1});
  if (base::is_floating(candidates.dtype())) {
    // ONNX does not say which NaN ArgMax finds, if any; PyTorch lets the last one win.
    const Value nan = onnx.cast(onnx.is_nan(candidates), DType::kInt32);
    const Value last = onnx.arg_max(nan, {.axis = -1, .keepdims = 1, .select_last_index = 1});
    const Value none = onnx.equal(onnx.gather_elements(nan, last, {.axis = -1}),
                                  onnx.int_scalar(0, DType::kInt32));
    index = onnx.where(none, index, last);
  }
  const Value best = onnx.gather_elements(candidates, index, {.axis = -1});
  return {onnx.squeeze(best, {-1}), onnx.squeeze(index, {-1})};
}

}  // namespace sardonyx::aten
