#include "aten/elementwise/operands.h"

#include <limits>
#include <numbers>

namespace sardonyx::aten {

Value operand(const Call& call, Emit& onnx, std::string_view name, DType dtype) {
  if (call.argument(name).get<program::Value*>()) return onnx.cast(call.tensor(name), dtype);
  return scalar_value(onnx, call.scalar(name), dtype);
}

Pair operands(const Call& call, Emit& onnx) {
  const DType dtype = base::real_of(call.result_dtype());
  return {operand(call, onnx, "self", dtype), operand(call, onnx, "other", dtype)};
}

DType computing_type(DType dtype) {
  return base::is_floating(dtype) && base::bit_width(dtype) < 32 ? DType::kFloat32 : dtype;
}

Value has_sign(Emit& onnx, Value x) {
  if (x.dtype() == DType::kBool || !base::is_signed(x.dtype())) {
    return onnx.expand(onnx.bool_scalar(false), x.shape());
  }
  const Value zero = onnx.zero(x.dtype());
  const Value negative = onnx.less(x, zero);
  if (!base::is_floating(x.dtype())) return negative;
  const Value negative_zero = onnx.and_(onnx.equal(x, zero), onnx.less(onnx.reciprocal(x), zero));
  return onnx.or_(negative, negative_zero);
}

Value truncated(Emit& onnx, Value x) {
  const Value magnitude = onnx.floor(onnx.abs(x));
  return onnx.where(has_sign(onnx, x), onnx.neg(magnitude), magnitude);
}

// The angle in the first quadrant, mirrored by the signs. Equal magnitudes stand for inf / inf and
// 0 / 0, whose quotient would be NaN.
Value angle_of(Emit& onnx, Value y, Value x) {
  const Value rise = onnx.abs(y), run = onnx.abs(x);
  const Value zero = onnx.zero(x.dtype()), one = onnx.one(x.dtype());
  const Value even = onnx.where(onnx.equal(run, zero), zero, one);
  const Value slope = onnx.where(onnx.equal(rise, run), even, onnx.div(rise, run));
  const Value quadrant = onnx.atan(slope);
  const Value mirrored = onnx.sub(onnx.scalar(std::numbers::pi, x.dtype()), quadrant);
  const Value angle = onnx.where(has_sign(onnx, x), mirrored, quadrant);
  return onnx.where(has_sign(onnx, y), onnx.neg(angle), angle);
}

// Scaled by the larger side, so that squares neither overflow nor vanish.
Value hypotenuse(Emit& onnx, Value a, Value b) {
  const Value width = onnx.abs(a), height = onnx.abs(b);
  const Value zero = onnx.zero(a.dtype());
  const Value large = onnx.max({width, height}), small = onnx.min({width, height});
  const Value ratio = onnx.where(onnx.equal(large, zero), zero, onnx.div(small, large));
  const Value length =
      onnx.mul(large, onnx.sqrt(onnx.add(onnx.mul(ratio, ratio), onnx.one(a.dtype()))));
  const Value infinity = onnx.scalar(std::numeric_limits<double>::infinity(), a.dtype());
  const Value infinite = onnx.or_(onnx.equal(width, infinity), onnx.equal(height, infinity));
  return onnx.where(infinite, infinity, length);
}

}  // namespace sardonyx::aten
