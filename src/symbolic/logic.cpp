// Conditions, choices, and the least and greatest of several.
//
// Integer comparisons are decided by ranges where they can be. Those that stay are == , != and <=
// with what can be negative moved to the other side, so that each relation has one form.
#include <algorithm>
#include <array>
#include <numeric>

#include "symbolic/build.h"
#include "symbolic/polynomial.h"

namespace sardonyx::symbolic {
namespace {

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();

Expr boolean(bool value) { return value ? 1 : 0; }

void sort_and_unify(std::vector<Expr>& operands) {
  std::sort(operands.begin(), operands.end(),
            [](Expr a, Expr b) { return structural_order(a, b) < 0; });
  operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
}

void flatten(Kind kind, std::span<const Expr> operands, std::vector<Expr>& into) {
  for (Expr e : operands) {
    if (e.kind() == kind) {
      flatten(kind, e.operands(), into);
    } else {
      into.push_back(e);
    }
  }
}

// p (relation) 0 as left (relation) right with positive coefficients on both sides.
Expr relation(Pool::Impl& pool, Kind kind, const Polynomial& p) {
  Polynomial left;
  Polynomial right;
  for (const Term& term : p.terms) {
    if (term.coefficient == kLowest) return {};
    if (term.coefficient > 0) left.terms.push_back(term);
    if (term.coefficient < 0) right.terms.push_back({-term.coefficient, term.monomial});
  }
  // The constant stands on the right, unless the left is empty.
  if (p.constant == kLowest) return {};
  (left.is_constant() ? left : right).constant = left.is_constant() ? p.constant : -p.constant;
  const Expr a = expression_of(pool, left);
  const Expr b = expression_of(pool, right);
  if (!a.known() || !b.known()) return {};
  return pool.intern(kind, Type::kBool, {a, b});
}

// The condition that alone makes up p, beside a constant; null otherwise. What ranges left
// undecided compares it with true or false.
const Node* sole_condition(const Polynomial& p) {
  if (p.terms.size() != 1 || p.terms[0].coefficient / 2 != 0) return nullptr;
  const Node* node = p.terms[0].monomial;
  return node->type == Type::kBool ? node : nullptr;
}

Expr compare_equal(Pool::Impl& pool, Polynomial p, bool equal) {
  const Range bounds = range_of(p);
  if (bounds.low > 0 || bounds.high < 0) return boolean(!equal);
  if (p.is_constant()) return boolean((p.constant == 0) == equal);
  const std::int64_t divisor = content(p);
  if (p.constant % divisor != 0) return boolean(!equal);
  divide_exactly(p, divisor);
  if (const Node* node = sole_condition(p)) {
    const Expr condition = Pool::Impl::wrap(node);
    return (p.constant != 0) == equal ? condition : build_not(condition);
  }
  // Both directions are the same relation: the leading coefficient is positive.
  Polynomial q;
  add_scaled(q, p, p.terms[0].coefficient < 0 ? -1 : 1);
  return q.overflow ? Expr() : relation(pool, equal ? Kind::kEq : Kind::kNe, q);
}

// p <= 0
Expr compare_less_equal(Pool::Impl& pool, Polynomial p) {
  const Range bounds = range_of(p);
  if (bounds.high <= 0) return boolean(true);
  if (bounds.low > 0) return boolean(false);
  // d*x + c <= 0 is x <= floor(-c/d), so x + ceil(c/d) <= 0.
  if (const std::int64_t divisor = content(p); divisor > 1) {
    const std::int64_t whole = p.constant / divisor;
    const bool up = p.constant % divisor > 0;
    p.constant = 0;
    divide_exactly(p, divisor);
    p.constant = whole + (up ? 1 : 0);
    return compare_less_equal(pool, std::move(p));  // rounding the constant may have decided it
  }
  if (const Node* node = sole_condition(p)) {
    const Expr condition = Pool::Impl::wrap(node);
    return p.terms[0].coefficient < 0 ? condition : build_not(condition);
  }
  return relation(pool, Kind::kLe, p);
}

Expr compare_integers(Kind kind, Expr a, Expr b) {
  if (a.is_constant() && b.is_constant()) {
    const std::int64_t x = a.value();
    const std::int64_t y = b.value();
    return boolean(kind == Kind::kEq   ? x == y
                   : kind == Kind::kNe ? x != y
                   : kind == Kind::kLt ? x < y
                                       : x <= y);
  }
  Pool::Impl& pool = *pool_of(a, b);
  Polynomial p = polynomial_of(a);
  add_scaled(p, polynomial_of(b), -1);
  if (kind == Kind::kLt) add_constant(p, 1);  // a < b is a - b + 1 <= 0
  if (p.overflow) return {};
  if (kind == Kind::kEq || kind == Kind::kNe)
    return compare_equal(pool, std::move(p), kind == Kind::kEq);
  return compare_less_equal(pool, std::move(p));
}

Expr compare_reals(Pool::Impl& pool, Kind kind, Expr a, Expr b) {
  if (a.kind() == Kind::kReal && b.kind() == Kind::kReal) {
    const double x = a.real();
    const double y = b.real();
    return boolean(kind == Kind::kEq   ? x == y
                   : kind == Kind::kNe ? x != y
                   : kind == Kind::kLt ? x < y
                                       : x <= y);
  }
  const bool symmetric = kind == Kind::kEq || kind == Kind::kNe;
  if (symmetric && structural_order(b, a) < 0) std::swap(a, b);
  return pool.intern(kind, Type::kBool, {a, b});
}

// Drops operands that another one makes superfluous, by ranges.
void drop_dominated(Kind kind, std::vector<Expr>& operands) {
  constexpr std::size_t kMany = 8;
  if (operands.size() > kMany) return;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    for (std::size_t j = 0; j < operands.size(); ++j) {
      if (i == j) continue;
      const bool dominated = kind == Kind::kMin ? certainly_less_equal(operands[j], operands[i])
                                                : certainly_less_equal(operands[i], operands[j]);
      if (!dominated) continue;
      operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(i--));
      break;
    }
  }
}

Expr integer_extremum(Kind kind, std::vector<Expr>& operands) {
  std::optional<std::int64_t> constant;
  std::vector<Expr> kept;
  for (Expr e : operands) {
    if (!e.is_constant()) {
      kept.push_back(e);
    } else if (!constant || (kind == Kind::kMin) == (e.value() < *constant)) {
      constant = e.value();
    }
  }
  if (constant) kept.push_back(*constant);
  sort_and_unify(kept);
  drop_dominated(kind, kept);
  if (kept.size() == 1) return kept[0];
  return pool_of(kept)->intern(kind, Type::kInt, kept);
}

Expr real_extremum(Kind kind, std::vector<Expr>& operands) {
  Pool::Impl* pool = pool_of(operands);
  std::optional<double> constant;
  std::vector<Expr> kept;
  for (Expr e : operands) {
    e = build_to_float(pool, e);
    if (e.kind() != Kind::kReal) {
      kept.push_back(e);
    } else if (!constant || (kind == Kind::kMin) == (e.real() < *constant)) {
      constant = e.real();
    }
  }
  if (constant) kept.push_back(pool->real(*constant));
  sort_and_unify(kept);
  if (kept.size() == 1) return kept[0];
  return pool->intern(kind, Type::kFloat, kept);
}

// The truth of an integer: not zero.
Expr as_condition(Expr e) {
  if (e.is_boolean()) return e;
  if (e.is_constant()) return boolean(e.value() != 0);
  if (e.is_float()) return build_comparison(Kind::kNe, e, e.node()->pool->real(0));
  return build_comparison(Kind::kNe, e, 0);
}

}  // namespace

Expr build_comparison(Kind kind, Expr a, Expr b) {
  if (!a.known() || !b.known()) return {};
  if (!a.is_float() && !b.is_float()) return compare_integers(kind, a, b);
  Pool::Impl& pool = *pool_of(a, b);
  // Conversions of integers compare as the integers do; so does 2.0.
  const auto integer = [](Expr e) -> Expr {
    if (!e.is_float()) return e;
    if (e.kind() == Kind::kToFloat) return e.operands()[0];
    if (e.kind() == Kind::kReal && build_rounding(Kind::kTruncToInt, e).known()) {
      const Expr whole = build_rounding(Kind::kTruncToInt, e);
      if (static_cast<double>(whole.value()) == e.real()) return whole;
    }
    return {};
  };
  const Expr x = integer(a);
  const Expr y = integer(b);
  if (x.known() && y.known()) return compare_integers(kind, x, y);
  return compare_reals(pool, kind, build_to_float(&pool, a), build_to_float(&pool, b));
}

Expr build_extremum(Kind kind, std::span<const Expr> operands) {
  std::vector<Expr> flat;
  flatten(kind, operands, flat);
  const bool real = std::any_of(flat.begin(), flat.end(), [](Expr e) { return e.is_float(); });
  return real ? real_extremum(kind, flat) : integer_extremum(kind, flat);
}

Expr build_not(Expr a) {
  if (!a.known()) return {};
  a = as_condition(a);
  if (a.is_constant()) return boolean(a.is(0));
  if (!a.known()) return {};
  const std::span<const Expr> operands = a.operands();
  switch (a.kind()) {
    case Kind::kNot:
      return operands[0];
    case Kind::kEq:
      return build_comparison(Kind::kNe, operands[0], operands[1]);
    case Kind::kNe:
      return build_comparison(Kind::kEq, operands[0], operands[1]);
    case Kind::kLe:
      // Of floats it is not a >, for NaN.
      if (operands[0].is_float()) break;
      return build_comparison(Kind::kLt, operands[1], operands[0]);
    case Kind::kAnd:
    case Kind::kOr: {
      std::vector<Expr> negated;
      for (Expr e : operands) negated.push_back(build_not(e));
      return build_junction(a.kind() == Kind::kAnd ? Kind::kOr : Kind::kAnd, negated);
    }
    default:
      break;
  }
  return a.node()->pool->intern(Kind::kNot, Type::kBool, {a});
}

Expr build_junction(Kind kind, std::span<const Expr> operands) {
  const bool absorbing = kind == Kind::kOr;  // true decides an Or, false an And
  std::vector<Expr> conditions;
  for (Expr e : operands) {
    conditions.push_back(as_condition(e));
    if (!conditions.back().known()) return {};
  }
  std::vector<Expr> flat;
  flatten(kind, conditions, flat);
  std::vector<Expr> kept;
  for (Expr e : flat) {
    if (!e.is_constant()) {
      kept.push_back(e);
    } else if (e.is(1) == absorbing) {
      return boolean(absorbing);
    }
  }
  sort_and_unify(kept);
  if (kept.empty()) return boolean(!absorbing);
  if (kept.size() == 1) return kept[0];
  if (kept.size() <= 16) {
    // x and not x. Of conditions within conditions it would cost too much to ask.
    for (Expr e : kept)
      if (e.kind() != Kind::kAnd && e.kind() != Kind::kOr &&
          std::find(kept.begin(), kept.end(), build_not(e)) != kept.end())
        return boolean(absorbing);
  }
  return pool_of(kept)->intern(kind, Type::kBool, kept);
}

Expr build_if(Pool::Impl* pool, Expr condition, Expr then, Expr otherwise) {
  condition = as_condition(condition);
  if (!condition.known()) return {};
  if (condition.is_constant()) return condition.is(1) ? then : otherwise;
  if (then == otherwise) return then;
  Type type = type_of(then);
  if (type_of(otherwise) != type) {
    const bool real = then.is_float() || otherwise.is_float();
    type = real ? Type::kFloat : Type::kInt;
    if (real) {
      then = build_to_float(pool, then);
      otherwise = build_to_float(pool, otherwise);
    }
  }
  return pool->intern(Kind::kIf, type, {condition, then, otherwise});
}

}  // namespace sardonyx::symbolic
