// Elementary functions of complex tensors, element by element.
#include <cmath>
#include <limits>
#include <numbers>

#include "aten/complex/math.h"
#include "aten/elementwise/operands.h"
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

// The argument in the type to compute with.
Parts wide(const Call& call, Emit& onnx, std::string_view name = "self") {
  return parts_of_operand(call, onnx, name, computing_type(base::real_of(call.result_dtype())));
}

Outputs result(const Call& call, Emit& onnx, const Parts& x) {
  const Parts cast = each_part(ComplexMath(onnx).complete(x),
                               [&](Value part) { return cast_to_result(onnx, call, part); });
  return {joined(onnx, cast)};
}

using Function = Parts (ComplexMath::*)(const Parts&) const;

template <Function kFunction>
Outputs function(const Call& call, Emit& onnx) {
  const ComplexMath math(onnx);
  return result(call, onnx, (math.*kFunction)(math.complete(wide(call, onnx))));
}

Outputs abs(const Call& call, Emit& onnx) {
  return {cast_to_result(onnx, call, ComplexMath(onnx).abs(wide(call, onnx)))};
}

Outputs angle(const Call& call, Emit& onnx) {
  return {cast_to_result(onnx, call, ComplexMath(onnx).angle(wide(call, onnx)))};
}

Outputs exp2(const Call& call, Emit& onnx) {
  const ComplexMath math(onnx);
  return result(call, onnx, math.exp(math.scale(wide(call, onnx), std::numbers::ln2)));
}

// exp(z) - 1 = (expm1 a cos b - 2 sin^2(b/2)) + i exp(a) sin b
Outputs expm1(const Call& call, Emit& onnx) {
  const ComplexMath math(onnx);
  const Parts x = wide(call, onnx);
  const Value half = onnx.sin(onnx.mul(x.imaginary, math.number(x, 0.5)));
  const Value bend = onnx.mul(onnx.mul(half, half), math.number(x, 2));
  const Value real = onnx.sub(onnx.mul(exp_minus_one(onnx, x.real), onnx.cos(x.imaginary)), bend);
  return result(call, onnx, {real, onnx.mul(onnx.exp(x.real), onnx.sin(x.imaginary))});
}

Outputs logarithm(const Call& call, Emit& onnx, double base) {
  const ComplexMath math(onnx);
  return result(call, onnx, math.scale(math.log(wide(call, onnx)), 1 / std::log(base)));
}
Outputs log2(const Call& call, Emit& onnx) { return logarithm(call, onnx, 2); }
Outputs log10(const Call& call, Emit& onnx) { return logarithm(call, onnx, 10); }

Outputs rsqrt(const Call& call, Emit& onnx) {
  const ComplexMath math(onnx);
  return result(call, onnx, math.reciprocal(math.sqrt(wide(call, onnx))));
}

// sin(pi z) / (pi z), 1 at 0
Outputs sinc(const Call& call, Emit& onnx) {
  const ComplexMath math(onnx);
  const Parts angle = math.scale(wide(call, onnx), std::numbers::pi);
  const Parts one = {math.number(angle, 1), {}};
  return result(call, onnx, math.where(math.is_zero(angle), one, math.div(math.sin(angle), angle)));
}

Parts logistic(const ComplexMath& math, const Parts& x) {
  return math.reciprocal(math.shift(math.exp(math.neg(x)), 1));
}

Outputs sigmoid(const Call& call, Emit& onnx) {
  return result(call, onnx, logistic(ComplexMath(onnx), wide(call, onnx)));
}

Outputs silu(const Call& call, Emit& onnx) {
  const ComplexMath math(onnx);
  const Parts x = wide(call, onnx);
  return result(call, onnx, math.mul(x, logistic(math, x)));
}

// The exponents that PyTorch gives a formula of their own.
std::optional<Parts> simple_power(const ComplexMath& math, const Parts& x, const Scalar& exponent) {
  if (!exponent.is_constant() || exponent.is_complex() || !x.is_complex()) return std::nullopt;
  if (exponent.is(0)) return Parts{math.number(x, 1), {}};
  if (exponent.is(0.5)) return math.sqrt(x);
  if (exponent.is(1)) return x;
  if (exponent.is(2)) return math.square(x);
  if (exponent.is(3)) return math.mul(math.square(x), x);
  if (exponent.is(-0.5)) return math.reciprocal(math.sqrt(x));
  if (exponent.is(-1)) return math.reciprocal(x);
  if (exponent.is(-2)) return math.reciprocal(math.square(x));
  return std::nullopt;
}

Outputs pow(const Call& call, Emit& onnx) {
  const ComplexMath math(onnx);
  const Parts base = wide(call, onnx);
  if (!call.argument("exponent").get<program::Value*>()) {
    if (const auto simple = simple_power(math, base, call.scalar("exponent"))) {
      const Value like = simple->real;
      const Parts whole = {onnx.expand(like, call.result_shape()), simple->imaginary};
      return result(call, onnx, whole);
    }
  }
  return result(call, onnx, math.pow(base, wide(call, onnx, "exponent")));
}

Outputs logaddexp(const Call& call, Emit& onnx) {
  const Parts a = wide(call, onnx), b = wide(call, onnx, "other");
  return result(call, onnx, ComplexMath(onnx).log_add_exp(a, b));
}

// --- what is asked of the parts

Outputs isnan(const Call& call, Emit& onnx) {
  const Parts x = parts_of(onnx, call.tensor("self"));
  return {onnx.or_(onnx.is_nan(x.real), onnx.is_nan(x.imaginary))};
}

Outputs isinf(const Call& call, Emit& onnx) {
  const Parts x = parts_of(onnx, call.tensor("self"));
  return {onnx.or_(onnx.is_inf(x.real), onnx.is_inf(x.imaginary))};
}

Outputs isfinite(const Call& call, Emit& onnx) {
  return {onnx.not_(onnx.or_(isnan(call, onnx).front(), isinf(call, onnx).front()))};
}

Outputs isreal(const Call& call, Emit& onnx) {
  const Value imaginary = parts_of(onnx, call.tensor("self")).imaginary;
  return {onnx.equal(imaginary, onnx.zero(imaginary.dtype()))};
}

using M = ComplexMath;

constexpr Row kRows[] = {
    {"aten::abs", abs},
    {"aten::absolute", abs},
    {"aten::acos", function<&M::acos>},
    {"aten::acosh", function<&M::acosh>},
    {"aten::angle", angle},
    {"aten::arccos", function<&M::acos>},
    {"aten::arccosh", function<&M::acosh>},
    {"aten::arcsin", function<&M::asin>},
    {"aten::arcsinh", function<&M::asinh>},
    {"aten::arctan", function<&M::atan>},
    {"aten::arctanh", function<&M::atanh>},
    {"aten::asin", function<&M::asin>},
    {"aten::asinh", function<&M::asinh>},
    {"aten::atan", function<&M::atan>},
    {"aten::atanh", function<&M::atanh>},
    {"aten::cos", function<&M::cos>},
    {"aten::cosh", function<&M::cosh>},
    {"aten::exp", function<&M::exp>},
    {"aten::exp2", exp2},
    {"aten::expm1", expm1},
    {"aten::float_power.Scalar", pow},
    {"aten::float_power.Tensor_Scalar", pow},
    {"aten::float_power.Tensor_Tensor", pow},
    {"aten::isfinite", isfinite},
    {"aten::isinf", isinf},
    {"aten::isnan", isnan},
    {"aten::isreal", isreal},
    {"aten::log", function<&M::log>},
    {"aten::log10", log10},
    {"aten::log1p", function<&M::log_one_plus>},
    {"aten::log2", log2},
    {"aten::logaddexp", logaddexp},
    {"aten::pow.Scalar", pow},
    {"aten::pow.Tensor_Scalar", pow},
    {"aten::pow.Tensor_Tensor", pow},
    {"aten::rsqrt", rsqrt},
    {"aten::sgn", function<&M::sgn>},
    {"aten::sigmoid", sigmoid},
    {"aten::silu", silu},
    {"aten::sin", function<&M::sin>},
    {"aten::sinc", sinc},
    {"aten::sinh", function<&M::sinh>},
    {"aten::special_exp2", exp2},
    {"aten::special_expit", sigmoid},
    {"aten::special_expm1", expm1},
    {"aten::special_log1p", function<&M::log_one_plus>},
    {"aten::special_sinc", sinc},
    {"aten::sqrt", function<&M::sqrt>},
    {"aten::tan", function<&M::tan>},
    {"aten::tanh", function<&M::tanh>},
};

}  // namespace

std::span<const Row> complex_function_rows() { return kRows; }

}  // namespace sardonyx::aten
