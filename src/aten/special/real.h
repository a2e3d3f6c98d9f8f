// Formulas of real numbers: arithmetic on ONNX values that reads as mathematics.
#pragma once

#include <span>

#include "aten/call.h"

namespace sardonyx::aten {

// A float64 value, or a constant not yet emitted.
class Real {
 public:
  Real(Emit& onnx, Value value) : onnx_(&onnx), value_(value) {}
  Real(double number) : number_(number) {}  // NOLINT(google-explicit-constructor)

  Emit* emitter() const { return onnx_; }
  Value in(Emit& onnx) const { return value_ ? value_ : onnx.scalar(number_, DType::kFloat64); }
  Value value() const { return value_; }

 private:
  Emit* onnx_ = nullptr;
  Value value_;
  double number_ = 0;
};

// A bool value.
struct Truth {
  Emit* onnx;
  Value value;
};

Real operator+(const Real& a, const Real& b);
Real operator-(const Real& a, const Real& b);
Real operator*(const Real& a, const Real& b);
Real operator/(const Real& a, const Real& b);
Real operator-(const Real& x);

Truth operator<(const Real& a, const Real& b);
Truth operator<=(const Real& a, const Real& b);
Truth operator>(const Real& a, const Real& b);
Truth operator>=(const Real& a, const Real& b);
Truth operator==(const Real& a, const Real& b);
Truth operator&&(const Truth& a, const Truth& b);
Truth operator||(const Truth& a, const Truth& b);
Truth operator!(const Truth& x);
Truth is_nan(const Real& x);
Truth is_infinite(const Real& x);

Real select(const Truth& condition, const Real& yes, const Real& no);
Real abs(const Real& x);
Real exp(const Real& x);
Real log(const Real& x);
Real log1p(const Real& x);
Real expm1(const Real& x);
Real sqrt(const Real& x);
Real sin(const Real& x);
Real cos(const Real& x);
Real floor(const Real& x);
Real round(const Real& x);  // halves to even
Real pow(const Real& x, const Real& exponent);
Real erf(const Real& x);
// The larger or smaller of two; NaN where the first is.
Real larger(const Real& a, const Real& b);
Real smaller(const Real& a, const Real& b);

// c[0] + c[1] v + c[2] v^2 + ...
Real polynomial(std::span<const double> coefficients, const Real& v);

// The argument, a tensor or a number, as float64.
Real real_argument(const Call& call, Emit& onnx, std::string_view name = "self");
// x in the type of the call's result.
Outputs real_result(const Call& call, Emit& onnx, const Real& x);

}  // namespace sardonyx::aten
