// Sums, products and powers, and the dispatch over kinds.
#include <algorithm>
#include <array>

#include "symbolic/build.h"
#include "symbolic/polynomial.h"

namespace sardonyx::symbolic {
namespace {

bool any_unknown(std::span<const Expr> operands) {
  return std::any_of(operands.begin(), operands.end(), [](Expr e) { return !e.known(); });
}

bool any_float(std::span<const Expr> operands) {
  return std::any_of(operands.begin(), operands.end(), [](Expr e) { return e.is_float(); });
}

// Runs `compute` unless the same operation on the same operands is remembered.
template <typename Compute>
Expr remember(Kind kind, Expr a, Expr b, Compute compute) {
  if (!a.known() || !b.known()) return {};
  Pool::Impl* pool = pool_of(a, b);
  if (!pool) return compute();
  Pool::Impl::Remembered& entry = pool->remembered(kind, a, b);
  const auto same = [](Expr x, Expr y) { return x.node() == y.node() && x.value() == y.value(); };
  if (entry.kind == kind && same(entry.a, a) && same(entry.b, b)) return entry.result;
  const Expr result = compute();
  pool->remembered(kind, a, b) = {kind, a, b, result};
  return result;
}

Expr combine(Expr a, Expr b, std::int64_t scale) {
  Pool::Impl* pool = pool_of(a, b);
  Polynomial p = polynomial_of(a);
  add_scaled(p, polynomial_of(b), scale);
  return pool ? expression_of(*pool, p) : p.overflow ? Expr() : Expr(p.constant);
}

Expr integer_product(Expr a, Expr b) {
  Pool::Impl* pool = pool_of(a, b);
  if (!pool) return {};  // two constants whose product overflows
  if (a.is(1) || b.is(1)) return a.is(1) ? b : a;
  return expression_of(*pool, multiply(*pool, polynomial_of(a), polynomial_of(b)));
}

Expr integer_power(Pool::Impl* pool, Expr base, std::int64_t exponent) {
  if (exponent == 0) return 1;
  if (exponent == 1 || base.is(0) || base.is(1)) return base;
  if (base.is(-1)) return exponent % 2 == 0 ? 1 : -1;
  if (base.is_constant()) {
    if (exponent > 63) return {};
    Expr result = 1;
    for (std::int64_t i = 0; i < exponent; ++i) result = result * base;
    return result;
  }
  // A single term's powers are one product; a sum is multiplied out step by step, and a power too
  // big for that stays one.
  if (exponent > 1'000'000) return {};
  const Polynomial p = polynomial_of(base);
  const std::size_t size = p.terms.size() + (p.constant != 0);
  if (size == 1) {
    const Node* node = base.node();
    if (node->monomial == node && factor_count(node) == 1 && factor_of(node).exponent == 1)
      return pool->intern(Kind::kPow, Type::kInt, {base, exponent});
    Expr square = integer_power(pool, base, exponent / 2);
    square = square * square;
    return exponent % 2 == 0 ? square : square * base;
  }
  if (exponent > 8 || size > 16) return pool->intern(Kind::kPow, Type::kInt, {base, exponent});
  Expr result = base;
  for (std::int64_t i = 1; i < exponent; ++i) result = result * base;
  return result;
}

}  // namespace

Expr build_sum(std::span<const Expr> terms) {
  Pool::Impl* pool = pool_of(terms);
  Polynomial p;
  for (Expr e : terms) {
    const Polynomial q = polynomial_of(e);
    p.overflow |= q.overflow;
    add_constant(p, q.constant);
    p.terms.insert(p.terms.end(), q.terms.begin(), q.terms.end());
    if (p.terms.size() > kMaxSize) return {};
  }
  normalize(p);
  return pool ? expression_of(*pool, p) : p.overflow ? Expr() : Expr(p.constant);
}

Expr build_product(std::span<const Expr> factors) {
  Expr result = 1;
  for (Expr e : factors) result = result * e;
  return result;
}

Expr build_power(Pool::Impl* pool, Expr base, Expr exponent) {
  if (base.is_float() || exponent.is_float()) return build_real_power(pool, base, exponent);
  if (const auto n = exponent.constant()) {
    if (*n >= 0) return integer_power(pool, base, *n);
    if (*n == std::numeric_limits<std::int64_t>::min()) return {};
    return build_true_div(pool, 1, integer_power(pool, base, -*n));
  }
  if (base.is(1)) return 1;
  return pool->intern(Kind::kPow, Type::kInt, {base, exponent});
}

Expr build(Pool::Impl* pool, Kind kind, std::span<const Expr> operands, std::string_view name) {
  if (any_unknown(operands)) return {};
  const auto needs = [&](std::size_t count) { return operands.size() == count; };
  switch (kind) {
    case Kind::kUnknown:
    case Kind::kSymbol:
      return {};
    case Kind::kInteger:
      return needs(1) ? operands[0] : Expr();
    case Kind::kReal:
      return needs(1) ? build_to_float(pool, operands[0]) : Expr();
    case Kind::kAdd:
      return any_float(operands) ? build_real_sum(pool, operands) : build_sum(operands);
    case Kind::kMul:
      return any_float(operands) ? build_real_product(pool, operands) : build_product(operands);
    case Kind::kPow:
      return needs(2) ? build_power(pool, operands[0], operands[1]) : Expr();
    case Kind::kFloorDiv:
      return needs(2) ? floor_div(operands[0], operands[1]) : Expr();
    case Kind::kMod:
      return needs(2) ? mod(operands[0], operands[1]) : Expr();
    case Kind::kMin:
    case Kind::kMax:
      return operands.empty() ? Expr() : build_extremum(kind, operands);
    case Kind::kTrueDiv:
      return needs(2) ? build_true_div(pool, operands[0], operands[1]) : Expr();
    case Kind::kToFloat:
      return needs(1) ? build_to_float(pool, operands[0]) : Expr();
    case Kind::kTruncToInt:
    case Kind::kFloorToInt:
    case Kind::kCeilToInt:
    case Kind::kRoundToInt:
      return needs(1) ? build_rounding(kind, operands[0]) : Expr();
    case Kind::kSqrt:
      return needs(1) ? build_function(pool, "sqrt", operands) : Expr();
    case Kind::kFunction:
      return operands.empty() ? Expr() : build_function(pool, name, operands);
    case Kind::kEq:
    case Kind::kNe:
    case Kind::kLt:
    case Kind::kLe:
      return needs(2) ? build_comparison(kind, operands[0], operands[1]) : Expr();
    case Kind::kAnd:
    case Kind::kOr:
      return build_junction(kind, operands);
    case Kind::kNot:
      return needs(1) ? build_not(operands[0]) : Expr();
    case Kind::kIf:
      return needs(3) ? build_if(pool, operands[0], operands[1], operands[2]) : Expr();
  }
  return {};
}

namespace detail {

Expr add(Expr a, Expr b) {
  return remember(Kind::kAdd, a, b, [&]() -> Expr {
    if (a.is_float() || b.is_float())
      return build_real_sum(pool_of(a, b), std::array<Expr, 2>{a, b});
    if (a.is(0) || b.is(0)) return a.is(0) ? b : a;
    return combine(a, b, 1);
  });
}

Expr subtract(Expr a, Expr b) {
  // kNot stands for subtraction among the remembered operations.
  return remember(Kind::kNot, a, b, [&]() -> Expr {
    if (a.is_float() || b.is_float()) {
      const Expr minus = build_real_product(pool_of(a, b), std::array<Expr, 2>{Expr(-1), b});
      return build_real_sum(pool_of(a, b), std::array<Expr, 2>{a, minus});
    }
    return combine(a, b, -1);
  });
}

Expr multiply(Expr a, Expr b) {
  return remember(Kind::kMul, a, b, [&]() -> Expr {
    if (a.is_float() || b.is_float())
      return build_real_product(pool_of(a, b), std::array<Expr, 2>{a, b});
    return integer_product(a, b);
  });
}

Expr floor_divide(Expr a, Expr b) {
  return remember(Kind::kFloorDiv, a, b, [&] { return build_floor_div(a, b); });
}

Expr modulo(Expr a, Expr b) {
  return remember(Kind::kMod, a, b, [&] { return build_mod(a, b); });
}

}  // namespace detail

Expr ceil_div(Expr a, Expr b) { return -floor_div(-a, b); }

Expr min(Expr a, Expr b) { return apply(Kind::kMin, {a, b}); }
Expr max(Expr a, Expr b) { return apply(Kind::kMax, {a, b}); }
Expr pow(Expr base, Expr exponent) { return apply(Kind::kPow, {base, exponent}); }

Expr sum(std::span<const Expr> terms) {
  if (terms.empty()) return 0;
  return build(pool_of(terms), Kind::kAdd, terms);
}

Expr product(std::span<const Expr> factors) {
  Expr result = 1;
  for (Expr e : factors) result = result * e;
  return result;
}

Expr apply(Kind kind, std::initializer_list<Expr> operands) {
  const std::span<const Expr> span(operands.begin(), operands.size());
  return build(pool_of(span), kind, span);
}

}  // namespace sardonyx::symbolic
