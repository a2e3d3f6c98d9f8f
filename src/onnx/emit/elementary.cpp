#include "onnx/emit/elementary.h"

namespace sardonyx::onnx {

// With u = 1 + x rounded, log(u) * x / (u - 1) makes good what rounding lost.
Value log_one_plus(Emit& onnx, Value x) {
  const Value one = onnx.scalar(1, x.dtype());
  const Value u = onnx.add(x, one);
  const Value log = onnx.log(u);
  const Value corrected = onnx.mul(log, onnx.div(x, onnx.sub(u, one)));
  const Value small = onnx.where(onnx.equal(u, one), x, corrected);
  return onnx.where(onnx.greater(x, one), log, small);
}

// exp(x) - 1 == tanh(x / 2) * (exp(x) + 1)
Value exp_minus_one(Emit& onnx, Value x) {
  const Value half = onnx.tanh(onnx.mul(x, onnx.scalar(0.5, x.dtype())));
  return onnx.mul(half, onnx.add(onnx.exp(x), onnx.scalar(1, x.dtype())));
}

}  // namespace sardonyx::onnx
