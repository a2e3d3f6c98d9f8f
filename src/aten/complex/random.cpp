// Random complex numbers: the variance is shared by the two parts, which are independent.
#include <numbers>

#include "aten/complex/value.h"
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

Value drawn(const Call& call, Emit& onnx, double mean, double deviation) {
  const DType dtype = base::real_of(call.result_dtype());
  const Value carrier = onnx.full(call.result_shape(), onnx.zero(dtype));
  const Value numbers = onnx.random_normal_like(carrier, {.dtype = dtype, .mean = 0, .scale = 1});
  const Value scaled = onnx.mul(numbers, onnx.scalar(deviation / std::numbers::sqrt2, dtype));
  return onnx.add(scaled, onnx.scalar(mean, dtype));
}

// PyTorch's mean is that of either part. `dtype` may ask for real numbers like complex ones.
Outputs complex_normal(const Call& call, Emit& onnx, double mean, double deviation) {
  if (!base::is_complex(call.result_dtype())) {
    return {drawn(call, onnx, mean, deviation * std::numbers::sqrt2)};
  }
  const Value real = drawn(call, onnx, mean, deviation);
  return {from_parts(onnx, real, drawn(call, onnx, mean, deviation))};
}

Outputs normal(const Call& call, Emit& onnx) {
  return complex_normal(call, onnx, call.number("mean"), call.number("std"));
}

constexpr Row kRows[] = {
    {"aten::normal.float_float", normal},
    {"aten::normal_functional", normal},
};

}  // namespace

std::span<const Row> complex_random_rows() { return kRows; }

}  // namespace sardonyx::aten
