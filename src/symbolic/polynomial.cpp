#include "symbolic/polynomial.h"

#include <algorithm>
#include <numeric>

namespace sardonyx::symbolic {
namespace {

Expr wrap(const Node* node) { return Pool::Impl::wrap(node); }

// The product of powers of atoms, which are in order; null for the empty product.
const Node* monomial_of(Pool::Impl& pool, std::span<const Factor> factors, bool& failed) {
  std::vector<Expr> operands;
  operands.reserve(factors.size());
  for (const Factor& factor : factors) {
    Expr e = wrap(factor.atom);
    if (factor.exponent != 1) e = pool.intern(Kind::kPow, Type::kInt, {e, Expr(factor.exponent)});
    if (!e.known()) failed = true;
    operands.push_back(e);
  }
  if (failed || operands.empty()) return nullptr;
  if (operands.size() == 1) return operands[0].node();
  Expr product = pool.intern(Kind::kMul, Type::kInt, operands);
  if (!product.known()) failed = true;
  return product.node();
}

const Node* multiply_monomials(Pool::Impl& pool, const Node* a, const Node* b, bool& failed) {
  std::vector<Factor> factors;
  const std::size_t count_a = factor_count(a);
  const std::size_t count_b = factor_count(b);
  factors.reserve(count_a + count_b);
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < count_a && j < count_b) {
    Factor x = factor_at(a, i);
    const Factor y = factor_at(b, j);
    const int order = structural_order(wrap(x.atom), wrap(y.atom));
    if (order == 0 && __builtin_add_overflow(x.exponent, y.exponent, &x.exponent)) failed = true;
    factors.push_back(order <= 0 ? x : y);
    if (order <= 0) ++i;
    if (order >= 0) ++j;
  }
  for (; i < count_a; ++i) factors.push_back(factor_at(a, i));
  for (; j < count_b; ++j) factors.push_back(factor_at(b, j));
  return monomial_of(pool, factors, failed);
}

// A sum or a `%` that stands as a factor (a product too big to multiply out) or as `a % b`.
bool is_compound(const Node* monomial) {
  return (monomial->kind == Kind::kAdd || monomial->kind == Kind::kMod) &&
         monomial->type == Type::kInt;
}

void append(Polynomial& into, std::int64_t coefficient, const Node* monomial) {
  if (!is_compound(monomial)) {
    into.terms.push_back({coefficient, monomial});
    return;
  }
  add_scaled(into, polynomial_of(wrap(monomial)), coefficient);
}

// a % b, written out.
Polynomial written_out(const Node* mod) {
  Polynomial result = polynomial_of(mod->operands[0]);
  Expr quotient = mod->pool->intern(Kind::kFloorDiv, Type::kInt, mod->arguments());
  if (!quotient.known()) {
    result.overflow = true;
    return result;
  }
  Polynomial subtrahend;
  subtrahend.terms.push_back({1, quotient.node()});
  add_scaled(result, multiply(*mod->pool, subtrahend, polynomial_of(mod->operands[1])), -1);
  return result;
}

// One `dividend % divisor` that p holds `times` times.
struct Recovered {
  std::int64_t times;
  Expr dividend, divisor;
};

// Does p hold -times*divisor*(dividend//divisor) in this term, and times*dividend in another?
std::optional<Recovered> recover_mod(Pool::Impl& pool, const Polynomial& p, const Term& term) {
  for (std::size_t i = 0; i < factor_count(term.monomial); ++i) {
    const Factor factor = factor_at(term.monomial, i);
    if (factor.atom->kind != Kind::kFloorDiv || factor.exponent != 1) continue;
    const Expr divisor = factor.atom->operands[1];
    const Polynomial d = polynomial_of(divisor);
    std::int64_t unit = 0;
    if (d.is_constant() && term.monomial == factor.atom) {
      unit = d.constant;
    } else if (d.terms.size() == 1 && d.constant == 0) {
      const MonomialQuotient rest = divide_monomial(pool, term.monomial, factor.atom);
      if (rest.monomial == d.terms[0].monomial) unit = d.terms[0].coefficient;
    }
    if (unit == 0 || unit == -1 || term.coefficient % unit != 0) continue;
    std::int64_t times = 0;
    if (__builtin_sub_overflow(0, term.coefficient / unit, &times)) continue;
    const Polynomial dividend = polynomial_of(factor.atom->operands[0]);
    const bool held = std::all_of(dividend.terms.begin(), dividend.terms.end(), [&](const Term& t) {
      std::int64_t wanted = 0;
      return !__builtin_mul_overflow(times, t.coefficient, &wanted) &&
             p.coefficient_of(t.monomial) == wanted;
    });
    if (held && !dividend.is_constant()) return Recovered{times, factor.atom->operands[0], divisor};
  }
  return std::nullopt;
}

// In longer sums no `%` is looked for; they are as equal as before, only longer in print.
constexpr std::size_t kMaxTermsWithMods = 32;

bool mentions_floor_div(const Node* monomial) {
  for (std::size_t i = 0; i < factor_count(monomial); ++i)
    if (factor_at(monomial, i).atom->kind == Kind::kFloorDiv) return true;
  return false;
}

// Replaces a - b*(a//b) by a % b wherever p holds it. The terms found are appended to `mods`.
void recover_mods(Pool::Impl& pool, Polynomial& p, std::vector<Term>& mods) {
  for (std::size_t i = 0; i < p.terms.size(); ++i) {
    if (!mentions_floor_div(p.terms[i].monomial)) continue;
    const std::optional<Recovered> found = recover_mod(pool, p, p.terms[i]);
    if (!found) continue;
    const Expr mod = pool.intern(Kind::kMod, Type::kInt, {found->dividend, found->divisor});
    Polynomial rest = p;
    std::int64_t minus = 0;
    if (!mod.known() || __builtin_sub_overflow(0, found->times, &minus)) continue;
    add_scaled(rest, written_out(mod.node()), minus);
    if (rest.overflow || rest.terms.size() >= p.terms.size()) continue;
    p = std::move(rest);
    mods.push_back({found->times, mod.node()});
    i = static_cast<std::size_t>(-1);  // the terms moved: start over, with fewer of them
  }
}

}  // namespace

std::int64_t Polynomial::coefficient_of(const Node* monomial) const {
  for (const Term& term : terms)
    if (term.monomial == monomial) return term.coefficient;
  return 0;
}

Polynomial polynomial_of(std::int64_t coefficient, const Node* monomial) {
  Polynomial p;
  append(p, coefficient, monomial);
  return p;
}

Polynomial polynomial_of(Expr e) {
  Polynomial p;
  const Node* node = e.node();
  if (!node) {
    p.constant = e.value();
  } else if (node->kind == Kind::kMod) {
    p = written_out(node);
  } else if (node->kind != Kind::kAdd || node->type != Type::kInt) {
    append(p, node->coefficient, node->monomial);
  } else {
    p.terms.reserve(node->operand_count);
    for (Expr operand : node->arguments()) {
      const Node* term = operand.node();
      if (!term) {
        add_constant(p, operand.value());
      } else if (term->monomial->kind == Kind::kMod) {
        add_scaled(p, written_out(term->monomial), term->coefficient);
      } else {
        p.terms.push_back({term->coefficient, term->monomial});
      }
    }
    if (node->has_mod) normalize(p);
  }
  return p;
}

Expr expression_of(Pool::Impl& pool, const Polynomial& p) {
  if (p.overflow) return {};
  if (p.terms.empty()) return p.constant;
  if (p.terms.size() == 1 && p.constant == 0)
    return pool.term(p.terms[0].coefficient, p.terms[0].monomial);

  const Polynomial* sum = &p;
  Polynomial without_mods;
  if (p.terms.size() > 1 && p.terms.size() <= kMaxTermsWithMods &&
      std::any_of(p.terms.begin(), p.terms.end(),
                  [](const Term& t) { return mentions_floor_div(t.monomial); })) {
    std::vector<Term> mods;
    without_mods = p;
    recover_mods(pool, without_mods, mods);
    if (!mods.empty()) {
      if (without_mods.is_zero() && mods.size() == 1)
        return pool.term(mods[0].coefficient, mods[0].monomial);
      without_mods.terms.insert(without_mods.terms.end(), mods.begin(), mods.end());
      normalize(without_mods);
      sum = &without_mods;
    }
  }
  std::vector<Expr> operands;
  operands.reserve(sum->terms.size() + 1);
  for (const Term& term : sum->terms) {
    operands.push_back(pool.term(term.coefficient, term.monomial));
    if (!operands.back().known()) return {};
  }
  if (sum->constant != 0) operands.push_back(sum->constant);
  return pool.intern(Kind::kAdd, Type::kInt, operands);
}

void add_constant(Polynomial& into, std::int64_t value) {
  into.overflow |= __builtin_add_overflow(into.constant, value, &into.constant);
}

void add_scaled(Polynomial& into, const Polynomial& p, std::int64_t scale) {
  into.overflow |= p.overflow;
  std::int64_t constant = 0;
  into.overflow |= __builtin_mul_overflow(p.constant, scale, &constant);
  add_constant(into, constant);
  std::vector<Term> merged;
  merged.reserve(into.terms.size() + p.terms.size());
  auto a = into.terms.begin();
  for (const Term& b : p.terms) {
    Term scaled = b;
    into.overflow |= __builtin_mul_overflow(b.coefficient, scale, &scaled.coefficient);
    int order = -1;
    while (a != into.terms.end() && (order = monomial_order(a->monomial, b.monomial)) < 0)
      merged.push_back(*a++);
    if (a != into.terms.end() && order == 0) {
      into.overflow |=
          __builtin_add_overflow(a->coefficient, scaled.coefficient, &scaled.coefficient);
      ++a;
    }
    if (scaled.coefficient != 0) merged.push_back(scaled);
  }
  merged.insert(merged.end(), a, into.terms.end());
  into.terms = std::move(merged);
}

void normalize(Polynomial& p) {
  std::sort(p.terms.begin(), p.terms.end(), [](const Term& a, const Term& b) {
    return monomial_order(a.monomial, b.monomial) < 0;
  });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < p.terms.size();) {
    Term term = p.terms[i];
    for (++i; i < p.terms.size() && p.terms[i].monomial == term.monomial; ++i)
      p.overflow |=
          __builtin_add_overflow(term.coefficient, p.terms[i].coefficient, &term.coefficient);
    if (term.coefficient != 0) p.terms[kept++] = term;
  }
  p.terms.resize(kept);
}

Polynomial multiply(Pool::Impl& pool, const Polynomial& p, const Polynomial& q) {
  Polynomial result;
  result.overflow = p.overflow || q.overflow;
  if (q.is_constant() || p.is_constant()) {
    add_scaled(result, q.is_constant() ? p : q, q.is_constant() ? q.constant : p.constant);
    return result;
  }
  const std::size_t size_p = p.terms.size() + (p.constant != 0);
  const std::size_t size_q = q.terms.size() + (q.constant != 0);
  if (size_p > 1 && size_q > 1 && size_p * size_q > kMaxProductTerms) {
    // Too big to multiply out: the sums are factors.
    const Expr a = expression_of(pool, p);
    const Expr b = expression_of(pool, q);
    bool failed = !a.known() || !b.known();
    const Node* product = failed ? nullptr : multiply_monomials(pool, a.node(), b.node(), failed);
    result.overflow |= failed;
    if (!failed) result.terms.push_back({1, product});
    return result;
  }
  std::int64_t constant = 0;
  result.overflow |= __builtin_mul_overflow(p.constant, q.constant, &constant);
  result.constant = constant;
  result.terms.reserve(size_p * size_q);
  auto push = [&](std::int64_t x, std::int64_t y, const Node* monomial) {
    Term term{0, monomial};
    result.overflow |= __builtin_mul_overflow(x, y, &term.coefficient);
    if (term.coefficient != 0) result.terms.push_back(term);
  };
  for (const Term& a : p.terms) {
    for (const Term& b : q.terms) {
      bool failed = false;
      const Node* monomial = multiply_monomials(pool, a.monomial, b.monomial, failed);
      if (failed) {
        result.overflow = true;
        return result;
      }
      push(a.coefficient, b.coefficient, monomial);
    }
    push(a.coefficient, q.constant, a.monomial);
  }
  for (const Term& b : q.terms) push(b.coefficient, p.constant, b.monomial);
  normalize(result);
  return result;
}

std::int64_t content(const Polynomial& p) {
  std::int64_t divisor = 0;
  // INT64_MIN has no absolute value; such coefficients get no common divisor.
  for (const Term& term : p.terms)
    divisor = term.coefficient == std::numeric_limits<std::int64_t>::min()
                  ? 1
                  : std::gcd(divisor, term.coefficient);
  return divisor;
}

void divide_exactly(Polynomial& p, std::int64_t divisor) {
  for (Term& term : p.terms) term.coefficient /= divisor;
  p.constant /= divisor;
}

MonomialQuotient divide_monomial(Pool::Impl& pool, const Node* a, const Node* b) {
  if (a == b) return {true, nullptr};
  std::vector<Factor> factors;
  const std::size_t count_b = factor_count(b);
  std::size_t j = 0;
  for (std::size_t i = 0; i < factor_count(a); ++i) {
    Factor x = factor_at(a, i);
    if (j < count_b && factor_at(b, j).atom == x.atom) x.exponent -= factor_at(b, j++).exponent;
    if (x.exponent < 0) return {};
    if (x.exponent > 0) factors.push_back(x);
  }
  if (j < count_b) return {};
  bool failed = false;
  const Node* quotient = monomial_of(pool, factors, failed);
  return {!failed, quotient};
}

std::optional<Polynomial> divide_polynomial(Pool::Impl& pool, const Polynomial& a,
                                            const Polynomial& b) {
  if (a.overflow || b.overflow || b.is_zero()) return std::nullopt;
  Polynomial quotient;
  if (b.is_constant()) {
    const std::int64_t d = b.constant;
    if (d == -1) {
      add_scaled(quotient, a, -1);
      return quotient.overflow ? std::nullopt : std::optional(quotient);
    }
    if (a.constant % d != 0) return std::nullopt;
    for (const Term& term : a.terms)
      if (term.coefficient % d != 0) return std::nullopt;
    quotient = a;
    divide_exactly(quotient, d);
    return quotient;
  }
  // Long division by leading terms. Each step removes the leading one, so that what remains
  // descends in the monomial order; the bound is for hostile input.
  const Term lead = b.terms[0];
  Polynomial rest = a;
  for (std::size_t steps = 0; !rest.is_zero(); ++steps) {
    if (rest.overflow || rest.is_constant() || steps > kMaxProductTerms) return std::nullopt;
    const Term top = rest.terms[0];
    if (lead.coefficient == -1 && top.coefficient == std::numeric_limits<std::int64_t>::min())
      return std::nullopt;
    if (top.coefficient % lead.coefficient != 0) return std::nullopt;
    const MonomialQuotient monomial = divide_monomial(pool, top.monomial, lead.monomial);
    if (!monomial.divides) return std::nullopt;
    const std::int64_t coefficient = top.coefficient / lead.coefficient;
    Polynomial step;
    if (monomial.monomial) {
      step = polynomial_of(coefficient, monomial.monomial);
    } else {
      step.constant = coefficient;
    }
    add_scaled(quotient, step, 1);
    add_scaled(rest, multiply(pool, step, b), -1);
    if (!rest.is_constant() && monomial_order(rest.terms[0].monomial, top.monomial) <= 0)
      return std::nullopt;  // a factored product was multiplied out; not a division any more
  }
  return quotient;
}

const Node* common_monomial(Pool::Impl& pool, const Polynomial& p, const Node* start) {
  const Node* common = start;
  for (const Term& term : p.terms) {
    if (!common) return nullptr;
    std::vector<Factor> factors;
    std::size_t j = 0;
    const std::size_t count = factor_count(term.monomial);
    for (std::size_t i = 0; i < factor_count(common); ++i) {
      const Factor x = factor_at(common, i);
      while (j < count &&
             structural_order(wrap(factor_at(term.monomial, j).atom), wrap(x.atom)) < 0)
        ++j;
      if (j == count) break;
      const Factor y = factor_at(term.monomial, j);
      if (y.atom == x.atom) factors.push_back({x.atom, std::min(x.exponent, y.exponent)});
    }
    bool failed = false;
    common = monomial_of(pool, factors, failed);
  }
  return common;
}

}  // namespace sardonyx::symbolic
