#include "aten/elementwise/operands.h"

#include <limits>
#include <numbers>

namespace sardonyx::aten {
namespace {

// A number of the same sign that is zero for no number: 1 / -0 is negative infinity.
Value away_from_zero(Emit& onnx, Value x) { return onnx.add(x, onnx.reciprocal(x)); }

}  // namespace

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
  return onnx.less(base::is_floating(x.dtype()) ? away_from_zero(onnx, x) : x, zero);
}

// By a product: a kernel that selects by adding what it masked makes 0 of -0.
Value with_sign_of(Emit& onnx, Value magnitude, Value like) {
  const DType dtype = magnitude.dtype();
  const Value sign = onnx.where(has_sign(onnx, like), onnx.scalar(-1, dtype), onnx.one(dtype));
  return onnx.mul(magnitude, sign);
}

Value truncated(Emit& onnx, Value x) {
  return onnx.mul(onnx.sign(away_from_zero(onnx, x)), onnx.floor(onnx.abs(x)));
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
  return with_sign_of(onnx, angle, y);
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
