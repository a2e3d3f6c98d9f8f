// A PyTorch Scalar argument: a number known now, or a symbolic one known when the model runs.
#pragma once

#include <complex>
#include <cstdint>
#include <variant>

#include "base/dtype.h"
#include "symbolic/expr.h"

namespace sardonyx::aten {

class Scalar {
 public:
  Scalar(bool value) : data_(value) {}                  // NOLINT(google-explicit-constructor)
  Scalar(std::int64_t value) : data_(value) {}          // NOLINT(google-explicit-constructor)
  Scalar(int value) : data_(std::int64_t{value}) {}     // NOLINT(google-explicit-constructor)
  Scalar(double value) : data_(value) {}                // NOLINT(google-explicit-constructor)
  Scalar(std::complex<double> value) : data_(value) {}  // NOLINT(google-explicit-constructor)
  Scalar(symbolic::Expr value);                         // NOLINT(google-explicit-constructor)

  bool is_constant() const { return !std::holds_alternative<symbolic::Expr>(data_); }
  // What kind of Python number it is; decides type promotion.
  bool is_bool() const;
  bool is_integer() const;  // int or SymInt
  bool is_float() const;    // float or SymFloat
  bool is_complex() const;

  // A constant that equals `value`.
  bool is(double value) const;
  // The constant as a double (imaginary part dropped). Throws SX1302 for symbolic numbers.
  double as_double() const;
  std::int64_t as_int() const;
  std::complex<double> as_complex() const;
  // A constant that float32 holds exactly, and that float32.
  bool exact_f32() const;
  float f32() const { return static_cast<float>(as_double()); }

  const symbolic::Expr* expr() const { return std::get_if<symbolic::Expr>(&data_); }

 private:
  std::variant<bool, std::int64_t, double, std::complex<double>, symbolic::Expr> data_;
};

}  // namespace sardonyx::aten
