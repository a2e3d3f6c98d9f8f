// Arithmetic and functions of numbers in parts, real ones (without an imaginary part) among them.
// Formulas that hold for real numbers too give a real result for real operands.
#pragma once

#include "aten/complex/value.h"

namespace sardonyx::aten {

class ComplexMath {
 public:
  explicit ComplexMath(Emit& onnx) : onnx_(onnx) {}

  // --- arithmetic; operands broadcast
  Parts add(const Parts& a, const Parts& b) const;
  Parts sub(const Parts& a, const Parts& b) const;
  Parts mul(const Parts& a, const Parts& b) const;
  Parts div(const Parts& a, const Parts& b) const;
  Parts neg(const Parts& x) const;
  Parts conj(const Parts& x) const;
  Parts matmul(const Parts& a, const Parts& b) const;
  Parts square(const Parts& x) const;
  Parts reciprocal(const Parts& x) const;
  Parts scale(const Parts& x, double factor) const;
  Parts shift(const Parts& x, double summand) const;  // of the real part
  Parts times_i(const Parts& x) const;

  // --- real results
  Value abs(const Parts& x) const;
  Value squared_abs(const Parts& x) const;
  Value angle(const Parts& x) const;
  Value equal(const Parts& a, const Parts& b) const;
  Value is_zero(const Parts& x) const;

  // --- functions of complex numbers (the imaginary part must be there); principal values
  Parts sgn(const Parts& x) const;  // x / |x|, 0 at 0
  Parts exp(const Parts& x) const;
  Parts log(const Parts& x) const;
  Parts log_one_plus(const Parts& x) const;
  Parts log_add_exp(const Parts& a, const Parts& b) const;  // log(exp(a) + exp(b))
  Parts sqrt(const Parts& x) const;
  Parts pow(const Parts& base, const Parts& exponent) const;

  // circular.cpp: the same, with infinities as the C standard has them (annex G, which has signs of
  // NaN and of some zeros open)
  Parts sin(const Parts& x) const;
  Parts cos(const Parts& x) const;
  Parts tan(const Parts& x) const;
  Parts sinh(const Parts& x) const;
  Parts cosh(const Parts& x) const;
  Parts tanh(const Parts& x) const;
  Parts asin(const Parts& x) const;
  Parts acos(const Parts& x) const;
  Parts atan(const Parts& x) const;
  Parts asinh(const Parts& x) const;
  Parts acosh(const Parts& x) const;
  Parts atanh(const Parts& x) const;

  // --- choices and constants
  Parts where(Value condition, const Parts& a, const Parts& b) const;
  // With an imaginary part of zeros where there is none.
  Parts complete(const Parts& x) const;
  Value number(const Parts& like, double value) const {
    return onnx_.scalar(value, like.real.dtype());
  }

 private:
  // `value`, but `otherwise` where it is NaN under the condition.
  Value instead_of_nan(Value value, Value condition, Value otherwise) const;

  Emit& onnx_;
};

}  // namespace sardonyx::aten
