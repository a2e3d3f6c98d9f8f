// Float expressions: SymFloats. They are computed as written, since a float operation rounds; only
// what is exact is simplified. A float expression that is exactly a rational number of integer
// expressions, as `s0 * 0.5` is, becomes integer arithmetic where it is rounded to an integer.
#include <algorithm>
#include <array>
#include <cmath>

#include "symbolic/build.h"
#include "symbolic/polynomial.h"

namespace sardonyx::symbolic {
namespace {

// Integers of this size are exact as doubles, and so are their sums.
constexpr double kExactInteger = 0x1p52;

// The integer expression whose conversion e is: of ToFloat(x) and of 2.0.
std::optional<Expr> exact_integer(Expr e) {
  if (!e.is_float()) return e;
  if (e.kind() == Kind::kToFloat) return e.operands()[0];
  if (e.kind() != Kind::kReal) return std::nullopt;
  const double value = e.real();
  if (value != std::trunc(value) || std::abs(value) > kExactInteger) return std::nullopt;
  if (value == 0 && std::signbit(value)) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

void sort_operands(std::vector<Expr>& operands) {
  std::stable_sort(operands.begin(), operands.end(),
                   [](Expr a, Expr b) { return structural_order(a, b) < 0; });
}

// numerator / denominator, both integer expressions.
struct Rational {
  Expr numerator;
  Expr denominator;
  bool dyadic;  // the denominator is a power of two, so that floats hold the value exactly
};

std::optional<Rational> dyadic_constant(double value) {
  if (!std::isfinite(value) || value == 0) return std::nullopt;
  std::int64_t denominator = 1;
  while (value != std::trunc(value) && denominator < (1 << 20)) {
    value *= 2;
    denominator *= 2;
  }
  if (value != std::trunc(value) || std::abs(value) > 0x1p31) return std::nullopt;
  return Rational{static_cast<std::int64_t>(value), denominator, true};
}

std::optional<Rational> rational(Expr e);

// A product with one inexact quotient n/d must not rescale its rounding error: n/49*49 may be less
// than n. Scaling by a power of two is exact.
std::optional<Rational> rational_product(std::span<const Expr> factors) {
  Rational result{1, 1, true};
  bool powers_of_two = true;
  for (Expr e : factors) {
    const auto factor = rational(e);
    if (!factor) return std::nullopt;
    if (factor->dyadic) {
      const auto n = factor->numerator.constant();
      powers_of_two = powers_of_two && n && *n > 0 && (*n & (*n - 1)) == 0;
    } else if (!result.dyadic) {
      return std::nullopt;
    }
    result = {result.numerator * factor->numerator, result.denominator * factor->denominator,
              result.dyadic && factor->dyadic};
  }
  return result.dyadic || powers_of_two ? std::optional(result) : std::nullopt;
}

// A sum of one inexact quotient n/d and exact values: an integer only where n/d is exact.
std::optional<Rational> rational_sum(std::span<const Expr> terms) {
  Rational result{0, 1, true};
  for (Expr e : terms) {
    const auto term = rational(e);
    if (!term || (!term->dyadic && !result.dyadic)) return std::nullopt;
    if (term->denominator == result.denominator) {
      result.numerator = result.numerator + term->numerator;
    } else {
      result.numerator =
          result.numerator * term->denominator + term->numerator * result.denominator;
      result.denominator = result.denominator * term->denominator;
    }
    result.dyadic = result.dyadic && term->dyadic;
  }
  return result;
}

// The integers that e is the quotient of, where rounding e to an integer may as well round the
// quotient. That supposes integers below 2^52, which sizes are.
std::optional<Rational> rational(Expr e) {
  if (const auto integer = exact_integer(e)) return Rational{*integer, 1, true};
  switch (e.kind()) {
    case Kind::kReal:
      return dyadic_constant(e.real());
    case Kind::kAdd:
      return rational_sum(e.operands());
    case Kind::kMul:
      return rational_product(e.operands());
    case Kind::kTrueDiv: {
      const Expr a = e.operands()[0];
      const Expr b = e.operands()[1];
      if (a.is_float() || b.is_float()) return std::nullopt;
      return Rational{a, b, false};
    }
    default:
      return std::nullopt;
  }
}

// Python's round(): halves go to the even neighbor, in every rounding mode.
double round_half_even(double value) {
  const double down = std::floor(value);
  const double fraction = value - down;
  if (fraction != 0.5) return fraction < 0.5 ? down : down + 1;
  return std::fmod(down, 2) == 0 ? down : down + 1;
}

struct NamedFunction {
  std::string_view name;
  RealFunction function;
};
constexpr NamedFunction kFunctions[] = {
    {"abs", std::fabs},    {"acos", std::acos},   {"acosh", std::acosh}, {"asin", std::asin},
    {"asinh", std::asinh}, {"atan", std::atan},   {"atanh", std::atanh}, {"cos", std::cos},
    {"cosh", std::cosh},   {"erf", std::erf},     {"exp", std::exp},     {"expm1", std::expm1},
    {"log", std::log},     {"log10", std::log10}, {"log1p", std::log1p}, {"log2", std::log2},
    {"sin", std::sin},     {"sinh", std::sinh},   {"sqrt", std::sqrt},   {"tan", std::tan},
    {"tanh", std::tanh},   {"trunc", std::trunc},
};

Expr as_float(Pool::Impl* pool, Expr e) { return build_to_float(pool, e); }

// x / 2^n is the same float as x * 2^-n.
bool is_power_of_two(double value) {
  int exponent = 0;
  return std::isfinite(value) && value > 0 && std::frexp(value, &exponent) == 0.5 &&
         exponent > -1000 && exponent < 1000;
}

}  // namespace

Expr round_real(Kind kind, double value) {
  switch (kind) {
    case Kind::kFloorToInt:
      value = std::floor(value);
      break;
    case Kind::kCeilToInt:
      value = std::ceil(value);
      break;
    case Kind::kRoundToInt:
      value = round_half_even(value);
      break;
    default:
      value = std::trunc(value);
  }
  if (!(std::abs(value) < 0x1p63)) return {};
  return static_cast<std::int64_t>(value);
}

RealFunction real_function(std::string_view name) {
  for (const NamedFunction& entry : kFunctions)
    if (entry.name == name) return entry.function;
  return nullptr;
}

Expr build_to_float(Pool::Impl* pool, Expr a) {
  if (!a.known() || a.is_float()) return a;
  if (!pool) return {};
  if (a.is_constant()) return pool->real(static_cast<double>(a.value()));
  return pool->intern(Kind::kToFloat, Type::kFloat, {a});
}

Expr build_real_sum(Pool::Impl* pool, std::span<const Expr> terms) {
  Expr integers = 0;
  double constant = 0;
  std::vector<Expr> operands;
  for (Expr e : terms) {
    if (const auto integer = exact_integer(e)) {
      integers = integers + *integer;
    } else if (e.kind() == Kind::kReal) {
      constant += e.real();
    } else {
      operands.push_back(e);
    }
  }
  if (!integers.known() || !pool) return {};
  if (constant != 0 && integers.is_constant()) {
    constant += static_cast<double>(integers.value());
    integers = 0;
  }
  if (constant != 0) operands.push_back(pool->real(constant));
  if (!integers.is(0) || operands.empty()) operands.push_back(as_float(pool, integers));
  if (operands.size() == 1) return operands[0];
  sort_operands(operands);
  return pool->intern(Kind::kAdd, Type::kFloat, operands);
}

Expr build_real_product(Pool::Impl* pool, std::span<const Expr> factors) {
  Expr integers = 1;
  double constant = 1;
  std::vector<Expr> operands;
  for (Expr e : factors) {
    if (const auto integer = exact_integer(e)) {
      integers = integers * *integer;
    } else if (e.kind() == Kind::kReal) {
      constant *= e.real();
    } else {
      operands.push_back(e);
    }
  }
  if (!integers.known() || !pool) return {};
  if (constant != 1 && integers.is_constant()) {
    constant *= static_cast<double>(integers.value());
    integers = 1;
  }
  if (constant != 1) operands.push_back(pool->real(constant));
  if (!integers.is(1) || operands.empty()) operands.push_back(as_float(pool, integers));
  if (operands.size() == 1) return operands[0];
  sort_operands(operands);
  return pool->intern(Kind::kMul, Type::kFloat, operands);
}

Expr build_real_power(Pool::Impl* pool, Expr base, Expr exponent) {
  base = as_float(pool, base);
  exponent = as_float(pool, exponent);
  if (!base.known() || !exponent.known()) return {};
  if (exponent.kind() == Kind::kReal) {
    const double n = exponent.real();
    if (base.kind() == Kind::kReal) return pool->real(std::pow(base.real(), n));
    if (n == 0) return pool->real(1);
    if (n == 1) return base;
    if (n == 0.5) return build_function(pool, "sqrt", std::array<Expr, 1>{base});
    if (n == -1) return build_true_div(pool, pool->real(1), base);
  }
  return pool->intern(Kind::kPow, Type::kFloat, {base, exponent});
}

Expr build_true_div(Pool::Impl* pool, Expr a, Expr b) {
  if (!a.known() || !b.known() || !pool || b.is(0)) return {};
  if (a.kind() == Kind::kReal && b.kind() == Kind::kReal) return pool->real(a.real() / b.real());
  const auto dividend = exact_integer(a);
  const auto divisor = exact_integer(b);
  if (dividend && divisor) {
    a = *dividend;
    b = *divisor;
    if (b.is(0)) return {};
    if (a.is_constant() && b.is_constant())
      return pool->real(static_cast<double>(a.value()) / static_cast<double>(b.value()));
    const Expr exact = exact_quotient(a, b);
    if (exact.known()) return as_float(pool, exact);
    return pool->intern(Kind::kTrueDiv, Type::kFloat, {a, b});
  }
  a = as_float(pool, a);
  b = as_float(pool, b);
  if (!a.known() || !b.known()) return {};
  if (b.kind() == Kind::kReal && is_power_of_two(b.real()))
    return build_real_product(pool, std::array<Expr, 2>{a, pool->real(1 / b.real())});
  return pool->intern(Kind::kTrueDiv, Type::kFloat, {a, b});
}

Expr build_rounding(Kind kind, Expr a) {
  if (!a.known() || !a.is_float()) return a;
  if (a.kind() == Kind::kReal) return round_real(kind, a.real());
  Pool::Impl& pool = *a.node()->pool;
  if (const auto value = rational(a);
      value && value->numerator.known() && value->denominator.known()) {
    const Expr n = value->numerator;
    const Expr d = value->denominator;
    if (d.is(1)) return n;
    const bool nonnegative = certainly_nonnegative(n) && certainly_nonnegative(d);
    if (kind == Kind::kFloorToInt || (kind == Kind::kTruncToInt && nonnegative))
      return floor_div(n, d);
    if (kind == Kind::kCeilToInt) return ceil_div(n, d);
  }
  return pool.intern(kind, Type::kInt, {a});
}

Expr build_function(Pool::Impl* pool, std::string_view name, std::span<const Expr> operands) {
  if (name.empty() || !pool) return {};
  std::vector<Expr> floats;
  for (Expr e : operands) {
    floats.push_back(as_float(pool, e));
    if (!floats.back().known()) return {};
  }
  const RealFunction function = floats.size() == 1 ? real_function(name) : nullptr;
  if (function && floats[0].kind() == Kind::kReal) return pool->real(function(floats[0].real()));
  if (name == "sqrt" && floats.size() == 1) return pool->intern(Kind::kSqrt, Type::kFloat, floats);
  return pool->intern(Kind::kFunction, Type::kFloat, floats, name);
}

}  // namespace sardonyx::symbolic
