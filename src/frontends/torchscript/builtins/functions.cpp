// Functions of numbers: those of the math module, and bits.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string>
#include <vector>

#include "frontends/torchscript/recording/builtins.h"
#include "frontends/torchscript/recording/numbers.h"

namespace sardonyx::torchscript {

using Kind = AbstractValue::Kind;
using symbolic::Expr;
using SymbolicKind = symbolic::Kind;

namespace {

// Of integers that are known.
template <class Function>
std::optional<AbstractValue> bitwise(GraphRecorder& recorder, const Operands& operands,
                                     const Function& function) {
  const Pair pair = numbers(operands);
  if (!pair || pair.left->kind != Kind::kInt || pair.right->kind != Kind::kInt) return std::nullopt;
  if (!pair.is_known()) return by_tensors(recorder, operands);
  return AbstractValue::of_int(function(pair.left->expr.value(), pair.right->expr.value()));
}

std::optional<AbstractValue> bits_xor(GraphRecorder& recorder, const Operands& operands) {
  return bitwise(recorder, operands, [](std::int64_t a, std::int64_t b) { return a ^ b; });
}

// By a power of two that is known the integer is multiplied or divided; nothing of tensors.
std::optional<AbstractValue> shifted(GraphRecorder& recorder, const Operands& operands,
                                     Expr (*by_factor)(Expr, Expr)) {
  const Pair pair = numbers(operands);
  if (!pair || pair.left->kind != Kind::kInt || pair.right->kind != Kind::kInt) return std::nullopt;
  const auto by = pair.right->expr.constant();
  if (!by || *by < 0 || *by > 62) return by_tensors(recorder, operands);
  return AbstractValue::of_int(by_factor(pair.left->expr, Expr(std::int64_t{1} << *by)));
}

std::optional<AbstractValue> shift_left(GraphRecorder& recorder, const Operands& operands) {
  return shifted(recorder, operands, [](Expr a, Expr b) { return a * b; });
}

std::optional<AbstractValue> shift_right(GraphRecorder& recorder, const Operands& operands) {
  return shifted(recorder, operands, [](Expr a, Expr b) { return symbolic::floor_div(a, b); });
}

// --- functions of reals, which integers and truths are here, too

bool is_plain(const AbstractValue& value) { return value.is_number() && !value.value; }

bool are_plain(const Operands& operands) {
  return !operands.positional.empty() && std::ranges::all_of(operands.positional, is_plain);
}

template <double (*function)(double)>
std::optional<AbstractValue> real_function(GraphRecorder& recorder, const Operands& operands) {
  if (!are_plain(operands) || operands.positional.size() != 1) return std::nullopt;
  const AbstractValue& value = operands.positional[0];
  if (!is_known_real(value)) return by_real_tensors(recorder, operands, operands.op);
  return AbstractValue::of_real(function(real_of(value)));
}

template <double (*function)(double, double)>
std::optional<AbstractValue> real_function_of_two(GraphRecorder& recorder,
                                                  const Operands& operands) {
  if (!are_plain(operands) || operands.positional.size() != 2) return std::nullopt;
  const AbstractValue &left = operands.positional[0], &right = operands.positional[1];
  if (!is_known_real(left) || !is_known_real(right))
    return by_real_tensors(recorder, operands, operands.op);
  return AbstractValue::of_real(function(real_of(left), real_of(right)));
}

double degrees(double value) { return value * (180.0 / std::numbers::pi); }
double radians(double value) { return value * (std::numbers::pi / 180.0); }

std::optional<AbstractValue> in_degrees(GraphRecorder& recorder, const Operands& operands) {
  return real_function<degrees>(recorder, {"aten::rad2deg", operands.positional, {}});
}

std::optional<AbstractValue> in_radians(GraphRecorder& recorder, const Operands& operands) {
  return real_function<radians>(recorder, {"aten::deg2rad", operands.positional, {}});
}

std::optional<AbstractValue> without_sign(GraphRecorder& recorder, const Operands& operands) {
  return real_function<std::fabs>(recorder, {"aten::abs", operands.positional, {}});
}

// log(x), log(x, base)
std::optional<AbstractValue> logarithm(GraphRecorder& recorder, const Operands& operands) {
  if (operands.positional.size() < 2) return real_function<std::log>(recorder, operands);
  if (!are_plain(operands)) return std::nullopt;
  const auto of = [&](const AbstractValue& value) {
    return *real_function<std::log>(recorder, {operands.op, {value}, {}});
  };
  return recorder.call("aten::div", {of(operands.positional[0]), of(operands.positional[1])});
}

bool is_nan(double value) { return std::isnan(value); }
bool is_infinite(double value) { return std::isinf(value); }
bool is_finite(double value) { return std::isfinite(value); }

template <bool (*function)(double)>
std::optional<AbstractValue> real_question(GraphRecorder& recorder, const Operands& operands) {
  if (!are_plain(operands)) return std::nullopt;
  const AbstractValue& value = operands.positional[0];
  if (!is_known_real(value)) return by_real_tensors(recorder, operands, operands.op);
  return AbstractValue::of_bool(function(real_of(value)));
}

std::optional<AbstractValue> greatest_divisor(GraphRecorder& recorder, const Operands& operands) {
  return bitwise(recorder, operands, [](std::int64_t a, std::int64_t b) { return std::gcd(a, b); });
}

std::optional<AbstractValue> square_root(GraphRecorder& recorder, const Operands& operands) {
  if (!are_plain(operands)) return std::nullopt;
  const AbstractValue& value = operands.positional[0];
  if (is_known_real(value)) return AbstractValue::of_real(std::sqrt(real_of(value)));
  return of_float(symbolic::apply(SymbolicKind::kSqrt, {expression_of(recorder, value)}));
}

}  // namespace

std::optional<AbstractValue> bits_and_or(GraphRecorder& recorder, const Operands& operands,
                                         bool conjunction) {
  return bitwise(recorder, operands,
                 [=](std::int64_t a, std::int64_t b) { return conjunction ? a & b : a | b; });
}

void add_function_builtins(BuiltinTable& table) {
  const std::pair<std::string_view, Builtin> rows[] = {
      {"aten::__xor__", bits_xor},
      {"aten::__lshift__", shift_left},
      {"aten::__rshift__", shift_right},
      {"aten::sinh", real_function<std::sinh>},
      {"aten::cosh", real_function<std::cosh>},
      {"aten::tan", real_function<std::tan>},
      {"aten::log2", real_function<std::log2>},
      {"aten::log10", real_function<std::log10>},
      {"aten::atan", real_function<std::atan>},
      {"aten::sqrt", square_root},
      {"aten::exp", real_function<std::exp>},
      {"aten::log", logarithm},
      {"aten::log1p", real_function<std::log1p>},
      {"aten::expm1", real_function<std::expm1>},
      {"aten::erf", real_function<std::erf>},
      {"aten::erfc", real_function<std::erfc>},
      {"aten::lgamma", real_function<std::lgamma>},
      {"aten::acos", real_function<std::acos>},
      {"aten::asin", real_function<std::asin>},
      {"aten::acosh", real_function<std::acosh>},
      {"aten::asinh", real_function<std::asinh>},
      {"aten::atanh", real_function<std::atanh>},
      {"aten::atan2", real_function_of_two<std::atan2>},
      {"aten::fmod", real_function_of_two<std::fmod>},
      {"aten::copysign", real_function_of_two<std::copysign>},
      {"aten::degrees", in_degrees},
      {"aten::radians", in_radians},
      {"aten::fabs", without_sign},
      {"aten::isnan", real_question<is_nan>},
      {"aten::isinf", real_question<is_infinite>},
      {"aten::isfinite", real_question<is_finite>},
      {"aten::gcd", greatest_divisor},
      {"aten::sin", real_function<std::sin>},
      {"aten::cos", real_function<std::cos>},
      {"aten::tanh", real_function<std::tanh>},
  };
  for (const auto& [name, function] : rows) table.emplace(name, function);
}

}  // namespace sardonyx::torchscript
