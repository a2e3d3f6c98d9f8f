// Powers.
#include "aten/families.h"
#include "aten/operands.h"

namespace sardonyx::aten {
namespace {

// By squaring, exact for every type and wrapping round as products of integers do.
Value whole_power(Emit& onnx, Value x, std::int64_t exponent) {
  Value result;
  for (Value square = x;; square = onnx.mul(square, square)) {
    if (exponent % 2 != 0) result = result ? onnx.mul(result, square) : square;
    exponent /= 2;
    if (exponent == 0) return result;
  }
}

// Integers to the power of integers. ONNX Runtime goes through double, which loses digits beyond
// 2^53 and wraps nothing; this multiplies the squares that the exponent's bits choose.
Value integer_power(Emit& onnx, Value number, Value exponent) {
  const DType dtype = number.dtype();
  number = onnx.cast(number, DType::kInt64);
  exponent = onnx.cast(exponent, DType::kInt64);
  const Value zero = onnx.int_scalar(0), one = onnx.int_scalar(1), two = onnx.int_scalar(2);
  const Value magnitude = onnx.abs(exponent);
  const auto is_odd = [&](Value x) { return onnx.not_(onnx.equal(onnx.mod(x, two), zero)); };
  // Further squares of even numbers are 0; those of odd ones, of which every digit has overflowed
  // many times, are left out.
  constexpr int kBits = 6;
  Value result = one, square = number, rest = magnitude;
  for (int bit = 0; bit < kBits; ++bit) {
    if (bit > 0) {
      square = onnx.mul(square, square);
      rest = onnx.div(rest, two);
    }
    result = onnx.mul(result, onnx.where(is_odd(rest), square, one));
  }
  const Value unit = onnx.equal(onnx.abs(number), one);
  const Value fraction = onnx.and_(onnx.less(exponent, zero), onnx.not_(unit));
  const Value beyond = onnx.and_(onnx.greater_or_equal(magnitude, onnx.int_scalar(1 << kBits)),
                                 onnx.not_(is_odd(number)));
  return onnx.cast(onnx.where(onnx.or_(fraction, beyond), zero, result), dtype);
}

Value power(Emit& onnx, Value number, Value exponent) {
  return base::is_floating(number.dtype()) ? onnx.pow(number, exponent)
                                           : integer_power(onnx, number, exponent);
}

Outputs pow_tensor_scalar(const Call& call, Emit& onnx) {
  const Value x = cast_to_result(onnx, call, call.tensor("self"));
  const Scalar exponent = call.scalar("exponent");
  if (exponent.is(1)) return {x};
  if (exponent.is(0.5)) return {onnx.sqrt(x)};
  // Squares and cubes of floating numbers stay Pow, which ONNX Runtime multiplies out, and by which
  // it knows GELU and RMS normalisation and puts one kernel in their place.
  if (!base::is_floating(x.dtype()) && exponent.is_constant() && exponent.as_int() > 0) {
    return {whole_power(onnx, x, exponent.as_int())};
  }
  if (exponent.is(-1)) return {onnx.reciprocal(x)};
  if (exponent.is(-0.5)) return {onnx.reciprocal(onnx.sqrt(x))};
  return {power(onnx, x, scalar_value(onnx, exponent, x.dtype()))};
}

Outputs pow_operands(const Call& call, Emit& onnx) {
  const DType dtype = call.result_dtype();
  return {power(onnx, operand(call, onnx, "self", dtype), operand(call, onnx, "exponent", dtype))};
}

constexpr Row kRows[] = {
    {"aten::pow.Scalar(Scalar self, Tensor exponent) -> Tensor", 13, pow_operands},
    {"aten::pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor", 13, pow_tensor_scalar},
    {"aten::pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor", 13, pow_operands},
};

}  // namespace

std::span<const Row> power_rows() { return kRows; }

}  // namespace sardonyx::aten
