// Powers.
#include <array>

#include "aten/elementwise/operands.h"
#include "aten/families.h"

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

Value is_odd(Emit& onnx, Value x) {
  return onnx.not_(onnx.equal(onnx.mod(x, onnx.int_scalar(2)), onnx.int_scalar(0)));
}

// A product so far, the square that the next bit of the exponent stands for, the bits to come.
using Squaring = std::array<Value, 3>;

Squaring next_bit(Emit& onnx, const Squaring& s) {
  const auto [product, square, rest] = s;
  const Value chosen = onnx.where(is_odd(onnx, rest), square, onnx.int_scalar(1));
  return {onnx.mul(product, chosen), onnx.mul(square, square), onnx.div(rest, onnx.int_scalar(2))};
}

// The product when no exponent has bits left: a Loop that runs only where an exponent has more bits
// than those that were unrolled before.
Value remaining_bits(Emit& onnx, const Squaring& before) {
  const auto any_left = [&](Value rest) {
    const Value left = onnx.cast(onnx.cast(rest, DType::kBool), DType::kInt64);
    return onnx.greater(onnx.reduce_sum(left, {}, {.keepdims = 0}), onnx.int_scalar(0));
  };
  const Shape shape = before[0].shape();
  Squaring initial, carried;
  for (std::size_t i = 0; i < initial.size(); ++i) initial[i] = onnx.expand(before[i], shape);
  onnx::Graph* body = onnx.begin_body("squaring");
  onnx.body_input("step", DType::kInt64, {});
  onnx.body_input("condition", DType::kBool, {});
  const std::array names = {"product", "square", "rest"};
  for (std::size_t i = 0; i < carried.size(); ++i) {
    carried[i] = onnx.body_input(names[i], DType::kInt64, shape);
  }
  const auto [product, square, rest] = next_bit(onnx, carried);
  onnx.end_body(std::array{any_left(rest), product, square, rest});
  return onnx.loop({}, any_left(initial[2]), initial, body).front();
}

// Integers to the power of integers, which wrap round, and are fractions cut off where the exponent
// is negative: ONNX's Pow says neither. This multiplies the squares that the exponent's bits
// choose. Past six squarings powers of even numbers are 0; those of odd ones go round and round.
Value integer_power(Emit& onnx, Value number, Value exponent) {
  const DType dtype = number.dtype();
  number = onnx.cast(number, DType::kInt64);
  exponent = onnx.cast(exponent, DType::kInt64);
  const Value zero = onnx.int_scalar(0), one = onnx.int_scalar(1);
  const Value magnitude = onnx.abs(exponent);
  constexpr int kBits = 6;
  Squaring powers = {one, number, magnitude};
  for (int bit = 0; bit < kBits; ++bit) powers = next_bit(onnx, powers);
  const Value odd = is_odd(onnx, number);
  const bool all_even = odd.is_scalar() && odd.ints() == std::vector<std::int64_t>{0};
  const Value result = all_even ? powers[0] : remaining_bits(onnx, powers);
  const Value unit = onnx.equal(onnx.abs(number), one);
  const Value fraction = onnx.and_(onnx.less(exponent, zero), onnx.not_(unit));
  const Value beyond =
      onnx.and_(onnx.greater_or_equal(magnitude, onnx.int_scalar(1 << kBits)), onnx.not_(odd));
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
  if (!base::is_floating(x.dtype()) && exponent.is_constant() && exponent.as_int() > 0) {
    return {whole_power(onnx, x, exponent.as_int())};
  }
  if (exponent.is(-1)) return {onnx.reciprocal(x)};
  if (exponent.is(-0.5)) return {onnx.reciprocal(onnx.sqrt(x))};
  return {power(onnx, x, scalar_value(onnx, exponent, x.dtype()))};
}

Outputs pow_of(const Call& call, Emit& onnx, std::string_view exponent) {
  const DType dtype = call.result_dtype();
  return {power(onnx, operand(call, onnx, "self", dtype), operand(call, onnx, exponent, dtype))};
}

Outputs pow_operands(const Call& call, Emit& onnx) { return pow_of(call, onnx, "exponent"); }
Outputs pow_primitive(const Call& call, Emit& onnx) { return pow_of(call, onnx, "other"); }

constexpr Row kRows[] = {
    {"aten::pow.Scalar(Scalar self, Tensor exponent) -> Tensor", pow_operands},
    {"aten::pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor", pow_tensor_scalar},
    {"aten::pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor", pow_operands},
    {"prims::pow(Tensor self, Tensor other) -> Tensor", pow_primitive},
};

}  // namespace

std::span<const Row> power_rows() { return kRows; }

}  // namespace sardonyx::aten
