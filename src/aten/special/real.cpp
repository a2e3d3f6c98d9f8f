#include "aten/special/real.h"

#include "aten/elementwise/operands.h"

namespace sardonyx::aten {
namespace {

Emit& emitter(const Real& a, const Real& b) { return a.emitter() ? *a.emitter() : *b.emitter(); }

template <class Operation>
Real binary(const Real& a, const Real& b, Operation operation) {
  Emit& onnx = emitter(a, b);
  return {onnx, (onnx.*operation)(a.in(onnx), b.in(onnx))};
}

template <class Operation>
Truth compared(const Real& a, const Real& b, Operation operation) {
  Emit& onnx = emitter(a, b);
  return {&onnx, (onnx.*operation)(a.in(onnx), b.in(onnx))};
}

template <class Operation>
Real unary(const Real& x, Operation operation) {
  Emit& onnx = *x.emitter();
  return {onnx, (onnx.*operation)(x.value())};
}

}  // namespace

Real operator+(const Real& a, const Real& b) { return binary(a, b, &Emit::add); }
Real operator-(const Real& a, const Real& b) { return binary(a, b, &Emit::sub); }
Real operator*(const Real& a, const Real& b) { return binary(a, b, &Emit::mul); }
Real operator/(const Real& a, const Real& b) { return binary(a, b, &Emit::div); }
Real operator-(const Real& x) { return unary(x, &Emit::neg); }

Truth operator<(const Real& a, const Real& b) { return compared(a, b, &Emit::less); }
Truth operator<=(const Real& a, const Real& b) { return compared(a, b, &Emit::less_or_equal); }
Truth operator>(const Real& a, const Real& b) { return compared(a, b, &Emit::greater); }
Truth operator>=(const Real& a, const Real& b) { return compared(a, b, &Emit::greater_or_equal); }
Truth operator==(const Real& a, const Real& b) { return compared(a, b, &Emit::equal); }
Truth operator&&(const Truth& a, const Truth& b) {
  return {a.onnx, a.onnx->and_(a.value, b.value)};
}
Truth operator||(const Truth& a, const Truth& b) { return {a.onnx, a.onnx->or_(a.value, b.value)}; }
Truth operator!(const Truth& x) { return {x.onnx, x.onnx->not_(x.value)}; }
Truth is_nan(const Real& x) { return {x.emitter(), x.emitter()->is_nan(x.value())}; }
Truth is_infinite(const Real& x) { return {x.emitter(), x.emitter()->is_inf(x.value())}; }

Real select(const Truth& condition, const Real& yes, const Real& no) {
  Emit& onnx = *condition.onnx;
  return {onnx, onnx.where(condition.value, yes.in(onnx), no.in(onnx))};
}

Real abs(const Real& x) { return unary(x, &Emit::abs); }
Real exp(const Real& x) { return unary(x, &Emit::exp); }
Real log(const Real& x) { return unary(x, &Emit::log); }
Real log1p(const Real& x) { return {*x.emitter(), log_one_plus(*x.emitter(), x.value())}; }
Real expm1(const Real& x) { return {*x.emitter(), exp_minus_one(*x.emitter(), x.value())}; }
Real sqrt(const Real& x) { return unary(x, &Emit::sqrt); }
Real sin(const Real& x) { return unary(x, &Emit::sin); }
Real cos(const Real& x) { return unary(x, &Emit::cos); }
Real floor(const Real& x) { return unary(x, &Emit::floor); }
Real round(const Real& x) { return unary(x, &Emit::round); }
Real pow(const Real& x, const Real& exponent) { return binary(x, exponent, &Emit::pow); }
Real erf(const Real& x) { return unary(x, &Emit::erf); }
Real larger(const Real& a, const Real& b) { return select(b > a, b, a); }
Real smaller(const Real& a, const Real& b) { return select(b < a, b, a); }

Real polynomial(std::span<const double> coefficients, const Real& v) {
  Real sum = coefficients.back();
  for (std::size_t i = coefficients.size() - 1; i-- > 0;) sum = sum * v + coefficients[i];
  return sum;
}

Real real_argument(const Call& call, Emit& onnx, std::string_view name) {
  return {onnx, operand(call, onnx, name, DType::kFloat64)};
}

Outputs real_result(const Call& call, Emit& onnx, const Real& x) {
  return {cast_to_result(onnx, call, x.in(onnx))};
}

}  // namespace sardonyx::aten
