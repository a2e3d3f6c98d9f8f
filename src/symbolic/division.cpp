// Floor division, remainder, exact quotients.
//
// a % b is a - b*(a//b); what is left to decide is the form of a//b. With a constant divisor every
// whole multiple is pulled out of the dividend, common divisors are canceled, nested divisions are
// one, and what remains has the coefficients nearest to zero with the leading one positive, so that
// -(-x//n), the usual way to write a division that rounds up, is (x + n - 1)//n.
#include <numeric>

#include "symbolic/build.h"
#include "symbolic/polynomial.h"

namespace sardonyx::symbolic {
namespace {

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  const std::int64_t quotient = a / b;
  return quotient - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

std::int64_t floor_remainder(std::int64_t a, std::int64_t b) {
  const std::int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

Expr scaled(std::int64_t sign, Expr e) { return sign < 0 ? -e : e; }

// The atom dividend//divisor. The dividend is free of whole multiples of the divisor.
Expr floor_div_atom(Pool::Impl& pool, Expr dividend, Expr divisor) {
  if (!dividend.known()) return {};
  return pool.intern(Kind::kFloorDiv, Type::kInt, {dividend, divisor});
}

// p is floor_div(x, a) + constant: one division, when the divisor allows it.
struct Nested {
  Expr dividend, divisor;
};
std::optional<Nested> nested_division(const Polynomial& p) {
  if (p.terms.size() != 1 || p.terms[0].coefficient != 1) return std::nullopt;
  const Node* node = p.terms[0].monomial;
  if (node->kind != Kind::kFloorDiv) return std::nullopt;
  return Nested{node->operands[0], node->operands[1]};
}

// Splits a, which is not constant, into quotient*b + rest, where the coefficients of the rest are
// the residues nearest to zero and its constant is within [0, b). Of b/2 and -b/2, equally near,
// the coefficient's sign decides: -(-x//2) shall become (x + 1)//2, and x//2 stay what it is.
void pull_multiples(const Polynomial& a, std::int64_t b, Polynomial& quotient, Polynomial& rest) {
  for (const Term& term : a.terms) {
    std::int64_t whole = floor_quotient(term.coefficient, b);
    std::int64_t part = floor_remainder(term.coefficient, b);
    if (part > b - part || (part == b - part && term.coefficient < 0)) {
      part -= b;
      ++whole;
    }
    if (whole != 0) quotient.terms.push_back({whole, term.monomial});
    if (part != 0) rest.terms.push_back({part, term.monomial});
  }
  quotient.constant = floor_quotient(a.constant, b);
  rest.constant = floor_remainder(a.constant, b);
}

// The constant k such that k*b <= rest < (k+1)*b always.
std::optional<std::int64_t> constant_quotient(const Polynomial& rest, std::int64_t b) {
  const Range bounds = range_of(rest);
  if (bounds.low == kLowest || bounds.high == std::numeric_limits<std::int64_t>::max())
    return std::nullopt;
  const std::int64_t low = floor_quotient(bounds.low, b);
  if (low != floor_quotient(bounds.high, b)) return std::nullopt;
  return low;
}

Expr floor_div_by_constant(Pool::Impl& pool, const Polynomial& a, std::int64_t b) {
  Polynomial quotient;
  Polynomial rest;
  pull_multiples(a, b, quotient, rest);
  const Expr whole = expression_of(pool, quotient);
  if (rest.is_constant()) return whole;

  std::int64_t sign = 1;  // the result is whole + sign * rest//b
  if (rest.terms[0].coefficient < 0) {
    // floor(x/b) = -floor((-x + b - 1)/b)
    sign = -1;
    for (Term& term : rest.terms) term.coefficient = -term.coefficient;
    rest.constant = b - 1 - rest.constant;
  }
  if (const std::int64_t divisor = std::gcd(content(rest), b); divisor > 1) {
    b /= divisor;
    for (Term& term : rest.terms) term.coefficient /= divisor;
    rest.constant = floor_quotient(rest.constant, divisor);
  }
  if (const auto constant = constant_quotient(rest, b)) return whole + scaled(sign, *constant);
  if (const auto inner = nested_division(rest)) {
    // (x//a + d)//b = (x + a*d)//(a*b)
    const Expr divisor = inner->divisor * b;
    if ((inner->divisor.is_constant() || rest.constant == 0) && divisor.known())
      return whole +
             scaled(sign, floor_div(inner->dividend + inner->divisor * rest.constant, divisor));
  }
  return whole + scaled(sign, floor_div_atom(pool, expression_of(pool, rest), b));
}

// Divides a and b by what all their terms have in common.
bool cancel_common(Pool::Impl& pool, Polynomial& a, Polynomial& b) {
  bool changed = false;
  const auto with_constant = [](const Polynomial& p) {
    return p.constant == kLowest ? 1 : std::gcd(content(p), p.constant);
  };
  if (const std::int64_t divisor = std::gcd(with_constant(a), with_constant(b)); divisor > 1) {
    divide_exactly(a, divisor);
    divide_exactly(b, divisor);
    changed = true;
  }
  if (a.constant != 0 || b.constant != 0 || a.is_constant() || b.is_constant()) return changed;
  const Node* common = common_monomial(pool, a, a.terms[0].monomial);
  if (common) common = common_monomial(pool, b, common);
  if (!common) return changed;
  const Polynomial divisor = polynomial_of(1, common);
  const auto p = divide_polynomial(pool, a, divisor);
  const auto q = divide_polynomial(pool, b, divisor);
  if (!p || !q) return changed;
  a = *p;
  b = *q;
  return true;
}

// Moves the terms of a that the single term b divides to the quotient.
void pull_multiples(Pool::Impl& pool, Polynomial& a, const Term& b, Polynomial& quotient) {
  Polynomial rest;
  rest.constant = a.constant;
  for (const Term& term : a.terms) {
    const MonomialQuotient monomial = divide_monomial(pool, term.monomial, b.monomial);
    if (!monomial.divides || term.coefficient == kLowest || term.coefficient % b.coefficient != 0) {
      rest.terms.push_back(term);
    } else if (monomial.monomial) {
      add_scaled(quotient, polynomial_of(1, monomial.monomial), term.coefficient / b.coefficient);
    } else {
      add_constant(quotient, term.coefficient / b.coefficient);
    }
  }
  a = std::move(rest);
}

Expr floor_div_by_expression(Pool::Impl& pool, Polynomial a, Polynomial b) {
  // The divisor is not 0, else the program fails before its sizes matter.
  cancel_common(pool, a, b);
  if (b.is_constant()) return floor_div(expression_of(pool, a), b.constant);
  if (const auto exact = divide_polynomial(pool, a, b)) return expression_of(pool, *exact);

  Polynomial quotient;
  if (b.terms.size() == 1 && b.constant == 0) pull_multiples(pool, a, b.terms[0], quotient);
  const Expr whole = expression_of(pool, quotient);
  if (a.is_zero()) return whole;
  const Expr divisor = expression_of(pool, b);
  const Expr dividend = expression_of(pool, a);
  if (!quotient.is_zero()) return whole + floor_div(dividend, divisor);

  const Range bounds = range_of(b);
  if (bounds.high <= 0) {
    Polynomial positive;
    add_scaled(positive, b, -1);
    // Turned once: of a divisor that is always 0 both bounds hold, before and after.
    if (bounds.low < 0 && !positive.overflow && range_of(positive).low >= 0)
      return floor_div(-dividend, -divisor);
  }
  if (bounds.low >= 0) {
    Polynomial gap = b;
    add_scaled(gap, a, -1);
    if (!gap.overflow && range_of(a).low >= 0 && range_of(gap).low > 0) return whole;
    const auto inner = nested_division(a);
    if (inner && a.constant == 0) return floor_div(inner->dividend, inner->divisor * divisor);
  }
  return floor_div_atom(pool, dividend, divisor);
}

}  // namespace

Expr build_floor_div(Expr a, Expr b) {
  if (a.is_float() || b.is_float() || b.is(0)) return {};
  if (b.is(1)) return a;
  if (b.is(-1)) return -a;
  if (a.is_constant() && b.is_constant())
    return b.value() == kLowest ? Expr() : Expr(floor_quotient(a.value(), b.value()));
  if (a.is(0)) return 0;
  if (a == b) return 1;
  if (b.is_constant() && b.value() < 0)
    return b.value() == kLowest ? Expr() : floor_div(-a, -b.value());
  Pool::Impl& pool = *pool_of(a, b);
  const Polynomial p = polynomial_of(a);
  if (p.overflow) return {};
  if (b.is_constant()) return floor_div_by_constant(pool, p, b.value());
  Polynomial q = polynomial_of(b);
  if (q.overflow) return {};
  return floor_div_by_expression(pool, p, std::move(q));
}

Expr build_mod(Expr a, Expr b) {
  if (b.is_constant() && a.is_constant()) {
    // The product below could overflow though the remainder does not.
    if (b.value() == 0) return {};
    if (b.value() == -1) return 0;
    return floor_remainder(a.value(), b.value());
  }
  return a - b * floor_div(a, b);
}

Expr exact_quotient(Expr a, Expr b) {
  if (!a.known() || !b.known() || a.is_float() || b.is_float() || b.is(0)) return {};
  if (b.is(1)) return a;
  if (a.is(0)) return 0;
  Pool::Impl* pool = pool_of(a, b);
  if (!pool) {
    if (a.value() == kLowest && b.value() == -1) return {};
    return a.value() % b.value() == 0 ? Expr(a.value() / b.value()) : Expr();
  }
  const auto quotient = divide_polynomial(*pool, polynomial_of(a), polynomial_of(b));
  return quotient ? expression_of(*pool, *quotient) : Expr();
}

}  // namespace sardonyx::symbolic
