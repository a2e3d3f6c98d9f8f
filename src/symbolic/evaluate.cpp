// The value of an expression with its symbols bound to numbers.
#include <algorithm>
#include <cmath>

#include "symbolic/build.h"

namespace sardonyx::symbolic {
namespace {

// Terms of a polynomial can pass 64 bits where their sum does not.
using Wide = __int128;

// A number of either type; the type of the expression says which.
struct Number {
  bool real = false;
  Wide integer = 0;
  double value = 0;

  static Number of(Wide i) { return {false, i, static_cast<double>(i)}; }
  static Number of(double d) { return {true, 0, d}; }
};
using Result = std::optional<Number>;

Result evaluate_number(Expr e, std::span<const Binding> values);

std::optional<std::vector<Number>> evaluate_all(std::span<const Expr> operands,
                                                std::span<const Binding> values) {
  std::vector<Number> numbers;
  numbers.reserve(operands.size());
  for (Expr e : operands) {
    const Result number = evaluate_number(e, values);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

bool any_real(const std::vector<Number>& numbers) {
  return std::any_of(numbers.begin(), numbers.end(), [](const Number& n) { return n.real; });
}

// Folds with an operation of doubles, or with one of integers that says when it overflows.
template <typename Reals, typename Integers>
Result fold(const std::vector<Number>& numbers, Reals reals, Integers integers) {
  Number result = numbers[0];
  const bool real = any_real(numbers);
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    if (real) {
      result = Number::of(reals(result.value, numbers[i].value));
      continue;
    }
    Wide next = 0;
    if (integers(result.integer, numbers[i].integer, &next)) return std::nullopt;
    result = Number::of(next);
  }
  return result;
}

Result power(const Number& base, const Number& exponent) {
  if (base.real || exponent.real) return Number::of(std::pow(base.value, exponent.value));
  if (exponent.integer < 0) return std::nullopt;
  Wide exponent_left = exponent.integer;
  if (base.integer >= -1 && base.integer <= 1 && exponent_left > 2)
    exponent_left = 2 - exponent_left % 2;  // of 0, 1 and -1 only the parity counts
  Wide result = 1;
  for (; exponent_left > 0; --exponent_left)
    if (__builtin_mul_overflow(result, base.integer, &result)) return std::nullopt;
  return Number::of(result);
}

Result floor_quotient(Wide a, Wide b) {
  if (b == 0) return std::nullopt;
  const Wide quotient = a / b;
  return Number::of(quotient - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0));
}

Result remainder(Wide a, Wide b) {
  if (b == 0) return std::nullopt;
  const Wide rest = a % b;
  return Number::of(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
}

Result round_number(Kind kind, const Number& n) {
  if (!n.real) return n;
  const auto value = round_real(kind, n.value).constant();
  return value ? Result(Number::of(Wide{*value})) : std::nullopt;
}

bool compare(Kind kind, const Number& a, const Number& b) {
  const bool real = a.real || b.real;
  switch (kind) {
    case Kind::kEq:
      return real ? a.value == b.value : a.integer == b.integer;
    case Kind::kNe:
      return real ? a.value != b.value : a.integer != b.integer;
    case Kind::kLt:
      return real ? a.value < b.value : a.integer < b.integer;
    default:
      return real ? a.value <= b.value : a.integer <= b.integer;
  }
}

Result evaluate_symbol(Expr e, std::span<const Binding> values) {
  for (const Binding& binding : values)
    if (binding.symbol == e)
      return e.is_float() ? Number::of(static_cast<double>(binding.value))
                          : Number::of(Wide{binding.value});
  return std::nullopt;
}

Result evaluate_function(Expr e, const std::vector<Number>& numbers) {
  const RealFunction function = real_function(e.kind() == Kind::kSqrt ? "sqrt" : e.name());
  if (!function || numbers.size() != 1) return std::nullopt;
  return Number::of(function(numbers[0].value));
}

Result evaluate_number(Expr e, std::span<const Binding> values) {
  const Kind kind = e.kind();
  if (kind == Kind::kInteger) return Number::of(Wide{e.value()});
  if (kind == Kind::kReal) return Number::of(e.real());
  if (kind == Kind::kSymbol) return evaluate_symbol(e, values);
  if (kind == Kind::kUnknown) return std::nullopt;
  if (kind == Kind::kIf) {
    const Result condition = evaluate_number(e.operands()[0], values);
    if (!condition) return std::nullopt;
    return evaluate_number(e.operands()[condition->integer != 0 ? 1 : 2], values);
  }
  const auto operands = evaluate_all(e.operands(), values);
  if (!operands) return std::nullopt;
  const std::vector<Number>& n = *operands;
  const auto truth = [](bool value) { return Number::of(Wide{value}); };
  switch (kind) {
    case Kind::kAdd:
      return fold(n, std::plus<double>(),
                  [](Wide a, Wide b, Wide* r) { return __builtin_add_overflow(a, b, r); });
    case Kind::kMul:
      return fold(n, std::multiplies<double>(),
                  [](Wide a, Wide b, Wide* r) { return __builtin_mul_overflow(a, b, r); });
    case Kind::kMin:
      return fold(
          n, [](double a, double b) { return std::min(a, b); },
          [](Wide a, Wide b, Wide* r) {
            *r = std::min(a, b);
            return false;
          });
    case Kind::kMax:
      return fold(
          n, [](double a, double b) { return std::max(a, b); },
          [](Wide a, Wide b, Wide* r) {
            *r = std::max(a, b);
            return false;
          });
    case Kind::kPow:
      return power(n[0], n[1]);
    case Kind::kFloorDiv:
      return floor_quotient(n[0].integer, n[1].integer);
    case Kind::kMod:
      return remainder(n[0].integer, n[1].integer);
    case Kind::kTrueDiv:
      return n[1].value == 0 ? std::nullopt : Result(Number::of(n[0].value / n[1].value));
    case Kind::kToFloat:
      return Number::of(n[0].value);
    case Kind::kTruncToInt:
    case Kind::kFloorToInt:
    case Kind::kCeilToInt:
    case Kind::kRoundToInt:
      return round_number(kind, n[0]);
    case Kind::kSqrt:
    case Kind::kFunction:
      return evaluate_function(e, n);
    case Kind::kEq:
    case Kind::kNe:
    case Kind::kLt:
    case Kind::kLe:
      return truth(compare(kind, n[0], n[1]));
    case Kind::kAnd:
      return truth(std::all_of(n.begin(), n.end(), [](const Number& x) { return x.integer != 0; }));
    case Kind::kOr:
      return truth(std::any_of(n.begin(), n.end(), [](const Number& x) { return x.integer != 0; }));
    case Kind::kNot:
      return truth(n[0].integer == 0);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<std::int64_t> evaluate(Expr e, std::span<const Binding> values) {
  const Result result = evaluate_number(e, values);
  if (!result || result->real) return std::nullopt;
  const auto value = static_cast<std::int64_t>(result->integer);
  return value == result->integer ? std::optional(value) : std::nullopt;
}

std::optional<double> evaluate_real(Expr e, std::span<const Binding> values) {
  const Result result = evaluate_number(e, values);
  return result ? std::optional(result->value) : std::nullopt;
}

}  // namespace sardonyx::symbolic
