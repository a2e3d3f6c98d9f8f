#include "aten/scalar.h"

#include <cmath>

#include "base/diagnostic.h"

namespace sardonyx::aten {

Scalar::Scalar(symbolic::Expr value) : data_(value) {
  if (value.is_constant()) data_ = value.value();
  if (value.known() && value.kind() == symbolic::Kind::kReal) data_ = value.real();
}

bool Scalar::is_bool() const {
  return std::holds_alternative<bool>(data_) || (expr() && expr()->is_boolean());
}

bool Scalar::is_integer() const {
  return std::holds_alternative<std::int64_t>(data_) ||
         (expr() && !expr()->is_boolean() && !expr()->is_float());
}

bool Scalar::is_float() const {
  return std::holds_alternative<double>(data_) || (expr() && expr()->is_float());
}

bool Scalar::is_complex() const { return std::holds_alternative<std::complex<double>>(data_); }

bool Scalar::is(double value) const {
  if (!is_constant()) return false;
  // A large int64 must not be judged by its rounded double.
  if (const auto* integer = std::get_if<std::int64_t>(&data_)) {
    return std::abs(*integer) < (std::int64_t{1} << 53) && static_cast<double>(*integer) == value;
  }
  return as_complex() == std::complex<double>(value);
}

double Scalar::as_double() const { return as_complex().real(); }

std::int64_t Scalar::as_int() const {
  if (const auto* integer = std::get_if<std::int64_t>(&data_)) return *integer;
  if (const auto* boolean = std::get_if<bool>(&data_)) return *boolean ? 1 : 0;
  return static_cast<std::int64_t>(as_double());
}

std::complex<double> Scalar::as_complex() const {
  if (const auto* boolean = std::get_if<bool>(&data_)) return *boolean ? 1.0 : 0.0;
  if (const auto* integer = std::get_if<std::int64_t>(&data_)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&data_)) return *real;
  if (const auto* complex = std::get_if<std::complex<double>>(&data_)) return *complex;
  base::fail("SX1302", "the number " + expr()->str() + " is known only when the model runs",
             "pass a number that does not depend on the inputs");
}

bool Scalar::exact_f32() const {
  if (!is_constant() || is_complex()) return false;
  if (const auto* integer = std::get_if<std::int64_t>(&data_)) {
    return std::abs(*integer) <= (std::int64_t{1} << 24);
  }
  const double value = as_double();
  return std::isnan(value) || static_cast<double>(static_cast<float>(value)) == value;
}

}  // namespace sardonyx::aten
