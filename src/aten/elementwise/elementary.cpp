// Elementary functions that ONNX lacks, from those it has: log1p, expm1, atan2, hypot, ...
#include <cmath>
#include <limits>
#include <numbers>

#include "aten/elementwise/operands.h"
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

// The argument in the type to compute with, and the way back.
Value wide(const Call& call, Emit& onnx, std::string_view name = "self") {
  return operand(call, onnx, name, computing_type(call.result_dtype()));
}

Value number(Emit& onnx, Value like, double value) { return onnx.scalar(value, like.dtype()); }

Outputs result(const Call& call, Emit& onnx, Value x) { return {cast_to_result(onnx, call, x)}; }

Outputs log1p(const Call& call, Emit& onnx) {
  return result(call, onnx, log_one_plus(onnx, wide(call, onnx)));
}

Outputs expm1(const Call& call, Emit& onnx) {
  return result(call, onnx, exp_minus_one(onnx, wide(call, onnx)));
}

Outputs logarithm(const Call& call, Emit& onnx, double base) {
  const Value x = onnx.log(wide(call, onnx));
  return result(call, onnx, onnx.div(x, number(onnx, x, std::log(base))));
}

Outputs log2(const Call& call, Emit& onnx) { return logarithm(call, onnx, 2); }
Outputs log10(const Call& call, Emit& onnx) { return logarithm(call, onnx, 10); }

Outputs exp2(const Call& call, Emit& onnx) {
  const Value x = wide(call, onnx);
  return result(call, onnx, onnx.pow(number(onnx, x, 2), x));
}

Outputs scaled(const Call& call, Emit& onnx, double factor) {
  const Value x = wide(call, onnx);
  return result(call, onnx, onnx.mul(x, number(onnx, x, factor)));
}

Outputs deg2rad(const Call& call, Emit& onnx) { return scaled(call, onnx, std::numbers::pi / 180); }
Outputs rad2deg(const Call& call, Emit& onnx) { return scaled(call, onnx, 180 / std::numbers::pi); }

Outputs frac(const Call& call, Emit& onnx) {
  const Value x = call.tensor("self");
  return {onnx.sub(x, truncated(onnx, x))};
}

// sin(pi x) / (pi x), 1 at 0
Outputs sinc(const Call& call, Emit& onnx) {
  const Value x = wide(call, onnx);
  const Value angle = onnx.mul(x, number(onnx, x, std::numbers::pi));
  const Value at_zero = onnx.equal(x, number(onnx, x, 0));
  const Value quotient = onnx.div(onnx.sin(angle), angle);
  return result(call, onnx, onnx.where(at_zero, number(onnx, x, 1), quotient));
}

// log(x / (1 - x)), x kept within [eps, 1 - eps]
Outputs logit(const Call& call, Emit& onnx) {
  Value x = wide(call, onnx);
  const Value one = number(onnx, x, 1);
  if (const std::optional<double> eps = call.optional_number("eps")) {
    const Value low = number(onnx, x, *eps), high = number(onnx, x, 1 - *eps);
    x = onnx.where(onnx.less(x, low), low, onnx.where(onnx.greater(x, high), high, x));
  }
  return result(call, onnx, onnx.log(onnx.div(x, onnx.sub(one, x))));
}

// The angle of a real number as a complex one: pi below 0.
Outputs angle(const Call& call, Emit& onnx) {
  const Value x = wide(call, onnx);
  const Value turned = onnx.where(onnx.less(x, number(onnx, x, 0)),
                                  number(onnx, x, std::numbers::pi), number(onnx, x, 0));
  if (!base::is_floating(call.tensor("self").dtype())) return result(call, onnx, turned);
  return result(call, onnx, onnx.where(onnx.is_nan(x), x, turned));
}

Outputs copysign(const Call& call, Emit& onnx) {
  const Value self = operand(call, onnx, "self", call.result_dtype());
  const Value other = operand(call, onnx, "other", call.result_dtype());
  return {with_sign_of(onnx, onnx.abs(self), other)};
}

Outputs atan2(const Call& call, Emit& onnx) {
  return result(call, onnx, angle_of(onnx, wide(call, onnx), wide(call, onnx, "other")));
}

Outputs hypot(const Call& call, Emit& onnx) {
  return result(call, onnx, hypotenuse(onnx, wide(call, onnx), wide(call, onnx, "other")));
}

// max + log(1 + exp(-|a - b|)); equal infinities are their own sum.
Outputs log_add(const Call& call, Emit& onnx, double base) {
  const Value a = wide(call, onnx), b = wide(call, onnx, "other");
  const Value log_base = number(onnx, a, std::log(base));
  const auto scale = [&](Value x) { return base == std::numbers::e ? x : onnx.mul(x, log_base); };
  const auto unscale = [&](Value x) { return base == std::numbers::e ? x : onnx.div(x, log_base); };
  const Value distance = scale(onnx.abs(onnx.sub(a, b)));
  const Value tail = unscale(log_one_plus(onnx, onnx.exp(onnx.neg(distance))));
  const Value sum = onnx.add(onnx.max({a, b}), tail);
  const Value infinite = onnx.and_(onnx.equal(a, b), onnx.is_inf(a));
  return result(call, onnx, onnx.where(infinite, a, sum));
}

Outputs logaddexp(const Call& call, Emit& onnx) { return log_add(call, onnx, std::numbers::e); }
Outputs logaddexp2(const Call& call, Emit& onnx) { return log_add(call, onnx, 2); }

// x times a logarithm of y: 0 where x is 0, unless y is NaN.
Outputs times_log(const Call& call, Emit& onnx, Value (*log)(Emit&, Value)) {
  const Value x = wide(call, onnx), y = wide(call, onnx, "other");
  const Value zero = number(onnx, x, 0);
  const Value nothing = onnx.and_(onnx.equal(x, zero), onnx.not_(onnx.is_nan(y)));
  return result(call, onnx, onnx.where(nothing, zero, onnx.mul(x, log(onnx, y))));
}

Value plain_log(Emit& onnx, Value x) { return onnx.log(x); }
Outputs xlogy(const Call& call, Emit& onnx) { return times_log(call, onnx, plain_log); }
Outputs xlog1py(const Call& call, Emit& onnx) { return times_log(call, onnx, log_one_plus); }

// -x log(x); 0 at 0, -inf below
Outputs entr(const Call& call, Emit& onnx) {
  const Value x = wide(call, onnx);
  const Value zero = number(onnx, x, 0);
  const Value inside = onnx.neg(onnx.mul(x, onnx.log(x)));
  const Value below = number(onnx, x, -std::numeric_limits<double>::infinity());
  const Value low = onnx.where(onnx.equal(x, zero), zero, inside);
  return result(call, onnx, onnx.where(onnx.less(x, zero), below, low));
}

Outputs float_power(const Call& call, Emit& onnx) {
  const DType dtype = call.result_dtype();
  return {onnx.pow(operand(call, onnx, "self", dtype), operand(call, onnx, "exponent", dtype))};
}

Outputs ldexp(const Call& call, Emit& onnx) {
  const Value x = wide(call, onnx), exponent = wide(call, onnx, "other");
  return result(call, onnx, onnx.mul(x, onnx.pow(number(onnx, x, 2), exponent)));
}

// Halves go to the even neighbor after scaling by a power of ten.
Outputs round_decimals(const Call& call, Emit& onnx) {
  const Value x = wide(call, onnx);
  const std::int64_t decimals = call.integer("decimals");
  if (!base::is_floating(x.dtype())) return {x};
  const Value power = number(onnx, x, std::pow(10.0, static_cast<double>(std::abs(decimals))));
  if (decimals < 0) {
    return result(call, onnx, onnx.mul(onnx.round(onnx.div(x, power)), power));
  }
  return result(call, onnx, onnx.div(onnx.round(onnx.mul(x, power)), power));
}

constexpr Row kRows[] = {
    {"aten::angle(Tensor self) -> Tensor", angle},
    {"aten::special_round(Tensor self, *, int decimals=0) -> Tensor", round_decimals},
    {"aten::arctan2(Tensor self, Tensor other) -> Tensor", atan2},
    {"aten::atan2(Tensor self, Tensor other) -> Tensor", atan2},
    {"aten::copysign.Scalar(Tensor self, Scalar other) -> Tensor", copysign},
    {"aten::copysign.Tensor(Tensor self, Tensor other) -> Tensor", copysign},
    {"aten::deg2rad(Tensor self) -> Tensor", deg2rad},
    {"aten::exp2(Tensor self) -> Tensor", exp2},
    {"aten::expm1(Tensor self) -> Tensor", expm1},
    {"aten::float_power.Scalar(Scalar self, Tensor exponent) -> Tensor", float_power},
    {"aten::float_power.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor", float_power},
    {"aten::float_power.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor", float_power},
    {"aten::frac(Tensor self) -> Tensor", frac},
    {"aten::hypot(Tensor self, Tensor other) -> Tensor", hypot},
    {"aten::ldexp.Tensor(Tensor self, Tensor other) -> Tensor", ldexp},
    {"aten::log10(Tensor self) -> Tensor", log10},
    {"aten::log1p(Tensor self) -> Tensor", log1p},
    {"aten::log2(Tensor self) -> Tensor", log2},
    {"aten::logaddexp(Tensor self, Tensor other) -> Tensor", logaddexp},
    {"aten::logaddexp2(Tensor self, Tensor other) -> Tensor", logaddexp2},
    {"aten::logit(Tensor self, float? eps=None) -> Tensor", logit},
    {"aten::rad2deg(Tensor self) -> Tensor", rad2deg},
    {"aten::round.decimals(Tensor self, *, int decimals) -> Tensor", round_decimals},
    {"aten::sinc(Tensor self) -> Tensor", sinc},
    {"aten::special_entr(Tensor self) -> Tensor", entr},
    {"aten::special_exp2(Tensor self) -> Tensor", exp2},
    {"aten::special_expm1(Tensor self) -> Tensor", expm1},
    {"aten::special_log1p(Tensor self) -> Tensor", log1p},
    {"aten::special_logit(Tensor self, float? eps=None) -> Tensor", logit},
    {"aten::special_sinc(Tensor self) -> Tensor", sinc},
    {"aten::special_xlog1py(Tensor self, Tensor other) -> Tensor", xlog1py},
    {"aten::special_xlog1py.other_scalar(Tensor self, Scalar other) -> Tensor", xlog1py},
    {"aten::special_xlog1py.self_scalar(Scalar self, Tensor other) -> Tensor", xlog1py},
    {"aten::special_xlogy(Tensor self, Tensor other) -> Tensor", xlogy},
    {"aten::special_xlogy.other_scalar(Tensor self, Scalar other) -> Tensor", xlogy},
    {"aten::special_xlogy.self_scalar(Scalar self, Tensor other) -> Tensor", xlogy},
    {"aten::xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor", xlogy},
    {"aten::xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor", xlogy},
    {"aten::xlogy.Tensor(Tensor self, Tensor other) -> Tensor", xlogy},
};

}  // namespace

std::span<const Row> elementary_rows() { return kRows; }

}  // namespace sardonyx::aten
