// Integer expressions as polynomials: sums of integer-coefficient monomials over atoms.
// Internal to src/symbolic.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "symbolic/node.h"

namespace sardonyx::symbolic {

struct Term {
  std::int64_t coefficient;
  const Node* monomial;
};

struct Polynomial {
  std::vector<Term> terms;  // by monomial_order, no zero coefficients
  std::int64_t constant = 0;
  bool overflow = false;

  bool is_constant() const { return terms.empty(); }
  bool is_zero() const { return terms.empty() && constant == 0; }
  // The coefficient of a monomial; 0 when it does not occur.
  std::int64_t coefficient_of(const Node* monomial) const;
};

// Every `a % b` among the terms is written out as a - b*(a//b).
Polynomial polynomial_of(Expr e);
Polynomial polynomial_of(std::int64_t coefficient, const Node* monomial);

// The canonical expression; unknown after an overflow. Recovers `a % b` where a sum holds one.
Expr expression_of(Pool::Impl& pool, const Polynomial& p);

// into += scale * p
void add_scaled(Polynomial& into, const Polynomial& p, std::int64_t scale);
void add_constant(Polynomial& into, std::int64_t value);
Polynomial multiply(Pool::Impl& pool, const Polynomial& p, const Polynomial& q);

// Sorts the terms, collects like ones, drops zeros.
void normalize(Polynomial& p);

// Greatest common divisor of the coefficients of the terms (without the constant); 0 for none.
std::int64_t content(const Polynomial& p);
// p / divisor, which divides every coefficient and the constant.
void divide_exactly(Polynomial& p, std::int64_t divisor);

// Quotient of monomials; `one` stands for the empty product and is null.
struct MonomialQuotient {
  bool divides = false;
  const Node* monomial = nullptr;  // null for 1
};
MonomialQuotient divide_monomial(Pool::Impl& pool, const Node* a, const Node* b);

// a / b when it is a polynomial with integer coefficients.
std::optional<Polynomial> divide_polynomial(Pool::Impl& pool, const Polynomial& a,
                                            const Polynomial& b);

// What is the same in every monomial of p (which has no constant); null for 1.
const Node* common_monomial(Pool::Impl& pool, const Polynomial& p, const Node* start);

// Bounds, by interval arithmetic that knows how a//n and min relate to their operands.
Range range_of(const Polynomial& p);

// A bound on products of sums: above it a product stays factored.
inline constexpr std::size_t kMaxProductTerms = 256;

}  // namespace sardonyx::symbolic
