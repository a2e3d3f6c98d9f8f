// Whole numbers and the parts of floating ones: shifts, gcd, lcm, frexp, nextafter.
#include <cmath>
#include <limits>

#include "aten/elementwise/operands.h"
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

// --- shifts

struct Shift {
  Value x, places;  // int64
  Value past;       // bool: by all bits or more, or by fewer than none
};

// ONNX's BitShift is for unsigned types only: int64 and powers of two stand in.
Shift shift_of(const Call& call, Emit& onnx) {
  const DType dtype = call.result_dtype();
  if (dtype == DType::kUInt64) {
    call.refuse("a shift of uint64", "shift int64 values, or divide and multiply");
  }
  Shift s;
  s.x = operand(call, onnx, "self", DType::kInt64);
  const Value by = operand(call, onnx, "other", DType::kInt64);
  const Value zero = onnx.int_scalar(0);
  s.past = onnx.or_(onnx.less(by, zero),
                    onnx.greater_or_equal(by, onnx.int_scalar(base::bit_width(dtype))));
  s.places = onnx.where(s.past, zero, by);
  return s;
}

// 2^0 ... 2^63; the last one is int64's smallest number, which multiplies as 2^63 does.
Value power_of_two(Emit& onnx, Value exponent) {
  std::vector<std::int64_t> powers;
  for (unsigned i = 0; i < 64; ++i) powers.push_back(static_cast<std::int64_t>(1ULL << i));
  return onnx.gather(onnx.ints(powers), exponent);
}

// A product wraps round as the bits fall off.
Value shifted_left(const Call& call, Emit& onnx) {
  const Shift s = shift_of(call, onnx);
  const Value moved = onnx.mul(s.x, power_of_two(onnx, s.places));
  return onnx.where(s.past, onnx.int_scalar(0), moved);
}

// A quotient rounded down: of ~x where x is negative, whose bits come in from the left as ones.
Value shifted_right(const Call& call, Emit& onnx) {
  const Shift s = shift_of(call, onnx);
  const Value zero = onnx.int_scalar(0), minus = onnx.int_scalar(-1);
  const Value negative = onnx.less(s.x, zero);
  const Value bits = onnx.where(negative, onnx.sub(minus, s.x), s.x);
  const Value all = onnx.greater_or_equal(s.places, onnx.int_scalar(63));
  const Value divisor = power_of_two(onnx, onnx.where(all, zero, s.places));
  const Value moved = onnx.where(onnx.or_(all, s.past), zero, onnx.div(bits, divisor));
  return onnx.where(negative, onnx.sub(minus, moved), moved);
}

// PyTorch multiplies floating numbers with a power of two.
Value scaled_by_power(const Call& call, Emit& onnx, double base) {
  const DType dtype = computing_type(call.result_dtype());
  const Value x = operand(call, onnx, "self", dtype), by = operand(call, onnx, "other", dtype);
  return onnx.mul(x, onnx.pow(onnx.scalar(base, dtype), by));
}

Outputs left_shift(const Call& call, Emit& onnx) {
  const bool floating = base::is_floating(call.result_dtype());
  return {cast_to_result(onnx, call,
                         floating ? scaled_by_power(call, onnx, 2) : shifted_left(call, onnx))};
}

Outputs right_shift(const Call& call, Emit& onnx) {
  const bool floating = base::is_floating(call.result_dtype());
  return {cast_to_result(onnx, call,
                         floating ? scaled_by_power(call, onnx, 0.5) : shifted_right(call, onnx))};
}

// --- common divisors

// Euclid's algorithm on all elements until every remainder is 0.
Value greatest_divisor(Emit& onnx, Value a, Value b) {
  const Shape shape = onnx.add(a, b).shape();
  const Value zero = onnx.int_scalar(0), one = onnx.int_scalar(1);
  const auto any_left = [&](Value rest) {
    const Value left = onnx.cast(onnx.cast(rest, DType::kBool), DType::kInt64);
    return onnx.greater(onnx.reduce_sum(left, {}, {.keepdims = 0}), zero);
  };
  const Value initial[] = {onnx.expand(onnx.abs(a), shape), onnx.expand(onnx.abs(b), shape)};
  onnx::Graph* body = onnx.begin_body("euclid");
  onnx.body_input("step", DType::kInt64, {});
  onnx.body_input("condition", DType::kBool, {});
  const Value x = onnx.body_input("larger", DType::kInt64, shape);
  const Value y = onnx.body_input("smaller", DType::kInt64, shape);
  const Value done = onnx.equal(y, zero);
  const Value rest = onnx.mod(x, onnx.where(done, one, y));
  const Value next_y = onnx.where(done, zero, rest);
  const Value results[] = {any_left(next_y), onnx.where(done, x, y), next_y};
  onnx.end_body(results);
  return onnx.loop({}, any_left(initial[1]), initial, body).front();
}

Outputs gcd(const Call& call, Emit& onnx) {
  const Pair pair = {operand(call, onnx, "self", DType::kInt64),
                     operand(call, onnx, "other", DType::kInt64)};
  return {cast_to_result(onnx, call, greatest_divisor(onnx, pair.left, pair.right))};
}

Outputs lcm(const Call& call, Emit& onnx) {
  const Value a = operand(call, onnx, "self", DType::kInt64);
  const Value b = operand(call, onnx, "other", DType::kInt64);
  const Value divisor = greatest_divisor(onnx, a, b), zero = onnx.int_scalar(0);
  const Value none = onnx.equal(divisor, zero);
  const Value parts = onnx.div(a, onnx.where(none, onnx.int_scalar(1), divisor));
  return {cast_to_result(onnx, call, onnx.where(none, zero, onnx.abs(onnx.mul(parts, b))))};
}

// --- the parts of a floating number

// x = mantissa * 2^exponent with 0.5 <= |mantissa| < 1, both float64.
struct Parts {
  Value mantissa, exponent;
  Value ordinary;  // neither 0 nor infinite nor NaN; only then do the parts mean anything
};

Parts parts_of(Emit& onnx, Value x) {
  const auto number = [&](double value) { return onnx.scalar(value, DType::kFloat64); };
  const Value zero = number(0), one = number(1), two = number(2), half = number(0.5);
  Parts parts;
  const Value magnitude = onnx.abs(x);
  const Value special = onnx.or_(onnx.or_(onnx.is_nan(x), onnx.is_inf(x)), onnx.equal(x, zero));
  parts.ordinary = onnx.not_(special);
  // Towards the middle of the range first, so that no power of two below overflows.
  const Value tiny = onnx.less(magnitude, number(0x1p-500));
  const Value huge = onnx.greater(magnitude, number(0x1p500));
  const Value scale = onnx.where(tiny, number(0x1p600), onnx.where(huge, number(0x1p-600), one));
  const Value moved = onnx.where(tiny, number(-600), onnx.where(huge, number(600), zero));
  const Value ordinary = onnx.where(special, one, onnx.mul(x, scale));
  const Value bits = onnx.div(onnx.log(onnx.abs(ordinary)), number(std::log(2.0)));
  const Value guess = onnx.add(onnx.floor(bits), one);
  const Value m = onnx.div(ordinary, onnx.pow(two, guess));
  // The logarithm may have been rounded to the wrong side of a power of two.
  const Value over = onnx.greater_or_equal(onnx.abs(m), one), under = onnx.less(onnx.abs(m), half);
  parts.mantissa = onnx.where(over, onnx.mul(m, half), onnx.where(under, onnx.mul(m, two), m));
  const Value step = onnx.where(over, one, onnx.where(under, number(-1), zero));
  parts.exponent = onnx.add(onnx.add(guess, step), moved);
  return parts;
}

Outputs frexp(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const Parts parts = parts_of(onnx, onnx.cast(self, DType::kFloat64));
  const Value mantissa = onnx.cast(parts.mantissa, self.dtype());
  const Value exponent = onnx.cast(parts.exponent, DType::kInt32);
  return {onnx.where(parts.ordinary, mantissa, self),
          onnx.where(parts.ordinary, exponent, onnx.zero(DType::kInt32))};
}

struct Format {
  int digits;  // bits of the mantissa, the hidden one included
  int least;   // the smallest number is 2^least
  double greatest;
};

Format format_of(const Call& call, DType dtype) {
  if (dtype == DType::kFloat64) return {53, -1074, std::numeric_limits<double>::max()};
  if (dtype == DType::kFloat32) return {24, -149, std::numeric_limits<float>::max()};
  if (dtype == DType::kBFloat16) return {8, -133, 0x1.FEp127};
  if (dtype == DType::kFloat16) return {11, -24, 65504};
  call.refuse("nextafter of " + std::string(base::dtype_name(dtype)));
}

// One unit in the last place up or down; below a power of two that is half a unit.
Outputs nextafter(const Call& call, Emit& onnx) {
  const DType dtype = call.result_dtype();
  const Format format = format_of(call, dtype);
  const auto number = [&](double value) { return onnx.scalar(value, DType::kFloat64); };
  const Value x = operand(call, onnx, "self", DType::kFloat64);
  const Value goal = operand(call, onnx, "other", DType::kFloat64);
  const Value zero = number(0), up = onnx.greater(goal, x), negative = onnx.less(x, zero);
  const Value inwards = onnx.xor_(up, onnx.not_(negative));
  const Parts parts = parts_of(onnx, x);
  const Value power = onnx.equal(onnx.abs(parts.mantissa), number(0.5));
  const Value narrow = onnx.cast(onnx.and_(inwards, power), DType::kFloat64);
  const Value place = onnx.sub(onnx.sub(parts.exponent, number(format.digits)), narrow);
  const Value lowest = number(format.least);
  // In two factors: 2^-1074 alone is out of reach for a power function that goes by logarithms.
  const Value exponent = onnx.max({place, lowest});
  const Value half = onnx.floor(onnx.mul(exponent, number(0.5)));
  const Value unit =
      onnx.mul(onnx.pow(number(2), half), onnx.pow(number(2), onnx.sub(exponent, half)));
  const Value moved = onnx.where(up, onnx.add(x, unit), onnx.sub(x, unit));
  const Value least = number(std::ldexp(1.0, format.least));
  const Value from_zero = onnx.where(up, least, onnx.neg(least));
  const Value from_infinity =
      onnx.where(negative, number(-format.greatest), number(format.greatest));
  Value y = onnx.where(onnx.equal(x, zero), from_zero, moved);
  y = onnx.where(onnx.is_inf(x), from_infinity, y);
  y = onnx.where(onnx.equal(x, goal), goal, y);
  const Value nan = onnx.or_(onnx.is_nan(x), onnx.is_nan(goal));
  const Value nowhere = number(std::numeric_limits<double>::quiet_NaN());
  return {onnx.cast(onnx.where(nan, nowhere, y), dtype)};
}

constexpr Row kRows[] = {
    {"aten::__lshift__.Scalar(Tensor self, Scalar other) -> Tensor", left_shift},
    {"aten::__lshift__.Tensor(Tensor self, Tensor other) -> Tensor", left_shift},
    {"aten::__rshift__.Scalar(Tensor self, Scalar other) -> Tensor", right_shift},
    {"aten::__rshift__.Tensor(Tensor self, Tensor other) -> Tensor", right_shift},
    {"aten::bitwise_left_shift.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", left_shift},
    {"aten::bitwise_left_shift.Tensor(Tensor self, Tensor other) -> Tensor", left_shift},
    {"aten::bitwise_left_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor", left_shift},
    {"aten::bitwise_right_shift.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", right_shift},
    {"aten::bitwise_right_shift.Tensor(Tensor self, Tensor other) -> Tensor", right_shift},
    {"aten::bitwise_right_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor", right_shift},
    {"aten::frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)", frexp},
    {"aten::gcd(Tensor self, Tensor other) -> Tensor", gcd},
    {"aten::lcm(Tensor self, Tensor other) -> Tensor", lcm},
    {"aten::nextafter(Tensor self, Tensor other) -> Tensor", nextafter},
};

}  // namespace

std::span<const Row> bits_rows() { return kRows; }

}  // namespace sardonyx::aten
