// Bounds of expressions by interval arithmetic. The ends of int64 stand for infinity.
#include <algorithm>
#include <cmath>

#include "symbolic/build.h"
#include "symbolic/polynomial.h"

namespace sardonyx::symbolic {
namespace {

constexpr std::int64_t kMinus = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kPlus = std::numeric_limits<std::int64_t>::max();
constexpr Range kAnything{};

bool infinite(std::int64_t a) { return a == kMinus || a == kPlus; }

// Sums and products that saturate: an end that overflows is an infinite one.
std::int64_t add_bounds(std::int64_t a, std::int64_t b) {
  if (infinite(a)) return a;
  if (infinite(b)) return b;
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) return a < 0 ? kMinus : kPlus;
  return result;
}

std::int64_t multiply_bounds(std::int64_t a, std::int64_t b) {
  if (a == 0 || b == 0) return 0;
  std::int64_t result = 0;
  if (infinite(a) || infinite(b) || __builtin_mul_overflow(a, b, &result))
    return (a < 0) == (b < 0) ? kPlus : kMinus;
  return result;
}

std::int64_t floor_bound(std::int64_t a, std::int64_t b) {
  if (infinite(a)) return (a < 0) == (b < 0) ? kPlus : kMinus;
  if (infinite(b)) return a != 0 && (a < 0) != (b < 0) ? -1 : 0;
  return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

Range operator+(Range a, Range b) { return {add_bounds(a.low, b.low), add_bounds(a.high, b.high)}; }

Range operator*(Range a, Range b) {
  const auto [low, high] =
      std::minmax({multiply_bounds(a.low, b.low), multiply_bounds(a.low, b.high),
                   multiply_bounds(a.high, b.low), multiply_bounds(a.high, b.high)});
  return {low, high};
}

Range scale(Range a, std::int64_t by) { return a * Range{by, by}; }

Range intersect(Range a, Range b) {
  const Range both{std::max(a.low, b.low), std::min(a.high, b.high)};
  return both.low > both.high ? a : both;
}

Range join(Range a, Range b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

Range power(Range base, std::int64_t exponent) {
  if (exponent > 64) return base.low >= 1 ? Range{1, kPlus} : kAnything;
  Range result{1, 1};
  for (std::int64_t i = 0; i < exponent; ++i) result = result * base;
  if (exponent % 2 == 0) result.low = std::max<std::int64_t>(result.low, 0);
  return result;
}

// A divisor is not 0.
Range without_zero(Range a) {
  if (a.low == 0) a.low = 1;
  if (a.high == 0) a.high = -1;
  return a;
}

Range floor_div_range(Range a, Range b) {
  b = without_zero(b);
  if (b.low > b.high) return kAnything;
  Range result{kPlus, kMinus};
  const auto include = [&](std::int64_t divisor) {
    const auto [low, high] =
        std::minmax({floor_bound(a.low, divisor), floor_bound(a.high, divisor)});
    result = join(result, {low, high});
  };
  include(b.low);
  include(b.high);
  if (b.low < 0 && b.high > 0) {
    include(-1);
    include(1);
  }
  return result;
}

Range node_range(const Node* node);

Range range_of_monomial(const Node* monomial) {
  Range result{1, 1};
  for (std::size_t i = 0; i < factor_count(monomial); ++i) {
    const Factor factor = factor_at(monomial, i);
    result = result * power(node_range(factor.atom), factor.exponent);
  }
  return result;
}

Range plain_range(const Polynomial& p) {
  Range result{p.constant, p.constant};
  for (const Term& term : p.terms)
    result = result + scale(range_of_monomial(term.monomial), term.coefficient);
  return result;
}

// How often one question may look through a division, a minimum or a common factor: what they
// stand beside multiplies the work.
struct Fuel {
  int depth;
  int* steps;

  bool spent() const { return depth == 0 || *steps <= 0; }
  Fuel burn() const {
    --*steps;
    return {depth - 1, steps};
  }
};
constexpr int kMaxDepthThrough = 3;
constexpr int kMaxStepsThrough = 24;

Range polynomial_range(const Polynomial& p, Fuel fuel);

// c*(r//n) + rest, times n, is c*r - c*[0, n-1] + n*rest.
Range range_through_floor_div(const Polynomial& p, const Term& term, Fuel fuel) {
  const Expr divisor = term.monomial->operands[1];
  if (!divisor.is_constant() || divisor.value() <= 0) return kAnything;
  const std::int64_t n = divisor.value();
  Polynomial rest = p;
  add_scaled(rest, polynomial_of(term.coefficient, term.monomial), -1);
  Polynomial sum;
  add_scaled(sum, rest, n);
  add_scaled(sum, polynomial_of(term.monomial->operands[0]), term.coefficient);
  if (sum.overflow) return kAnything;
  std::int64_t slack = multiply_bounds(term.coefficient, n - 1);
  if (infinite(slack)) return kAnything;
  const Range fraction = slack < 0 ? Range{0, -slack} : Range{-slack, 0};
  const Range bounds = polynomial_range(sum, fuel.burn()) + fraction;
  // Rounded inwards: the value is an integer.
  const std::int64_t low = infinite(bounds.low) ? bounds.low : -floor_bound(-bounds.low, n);
  return {low, floor_bound(bounds.high, n)};
}

// c*min(x, y, ...) + rest is one of c*x + rest, c*y + rest, ...: the least of them, or the
// greatest.
Range range_through_extremum(const Polynomial& p, const Term& term, Fuel fuel) {
  Polynomial rest = p;
  add_scaled(rest, polynomial_of(term.coefficient, term.monomial), -1);
  const bool least = (term.monomial->kind == Kind::kMin) == (term.coefficient > 0);
  Range result = least ? Range{kPlus, kPlus} : Range{kMinus, kMinus};
  for (Expr operand : term.monomial->arguments()) {
    Polynomial choice = rest;
    add_scaled(choice, polynomial_of(operand), term.coefficient);
    if (choice.overflow) return kAnything;
    const Range bounds = polynomial_range(choice, fuel.burn());
    result = least ? Range{std::min(result.low, bounds.low), std::min(result.high, bounds.high)}
                   : Range{std::max(result.low, bounds.low), std::max(result.high, bounds.high)};
  }
  return result;
}

// x*(y + z - 1) for x*y + x*z - x.
Range range_through_factor(const Polynomial& p, Fuel fuel) {
  if (p.constant != 0 || p.terms.size() < 2) return kAnything;
  Pool::Impl& pool = *p.terms[0].monomial->pool;
  const Node* common = common_monomial(pool, p, p.terms[0].monomial);
  if (!common) return kAnything;
  const auto quotient = divide_polynomial(pool, p, polynomial_of(1, common));
  if (!quotient) return kAnything;
  return range_of_monomial(common) * polynomial_range(*quotient, fuel.burn());
}

Range bounded_range(const Polynomial& p) {
  int steps = kMaxStepsThrough;
  return polynomial_range(p, {kMaxDepthThrough, &steps});
}

Range polynomial_range(const Polynomial& p, Fuel fuel) {
  if (p.overflow) return kAnything;
  Range result = plain_range(p);
  if (fuel.spent() || p.terms.size() < 2 || p.terms.size() > 16) return result;
  for (const Term& term : p.terms) {
    const Kind kind = term.monomial->kind;
    if (kind == Kind::kFloorDiv) result = intersect(result, range_through_floor_div(p, term, fuel));
    if ((kind == Kind::kMin || kind == Kind::kMax) && term.monomial->operand_count <= 8)
      result = intersect(result, range_through_extremum(p, term, fuel));
  }
  return intersect(result, range_through_factor(p, fuel));
}

Range mod_range(const Node* node) {
  const Range dividend = range(node->operands[0]);
  const Range divisor = range(node->operands[1]);
  if (divisor.low >= 0) {
    Range result{0, add_bounds(divisor.high, infinite(divisor.high) ? 0 : -1)};
    if (dividend.low >= 0) result.high = std::min(result.high, dividend.high);
    return result;
  }
  if (divisor.high <= 0) return {add_bounds(divisor.low, 1), 0};
  return {add_bounds(divisor.low, 1), add_bounds(divisor.high, -1)};
}

std::int64_t rounded(double value, bool up) {
  const double whole = up ? std::ceil(value) : std::floor(value);
  if (!(whole > -0x1p62)) return kMinus;
  if (!(whole < 0x1p62)) return kPlus;
  return static_cast<std::int64_t>(whole);
}

Range rounding_range(const Node* node) {
  const RealRange bounds = real_range(node->operands[0]);
  if (std::isnan(bounds.low) || std::isnan(bounds.high)) return kAnything;
  // Outwards, whichever way the kind rounds; but truncation does not pass zero.
  Range result{rounded(bounds.low, false), rounded(bounds.high, true)};
  if (node->kind == Kind::kFloorToInt) result.high = rounded(bounds.high, false);
  if (node->kind == Kind::kCeilToInt) result.low = rounded(bounds.low, true);
  return result;
}

Range compute(const Node* node) {
  if (node->type == Type::kBool) return {0, 1};
  if (node->type == Type::kFloat) return kAnything;
  switch (node->kind) {
    case Kind::kAdd:
      return bounded_range(polynomial_of(Pool::Impl::wrap(node)));
    case Kind::kMul:
      return scale(range_of_monomial(node->monomial), node->coefficient);
    case Kind::kPow: {
      const Factor factor = factor_of(node);
      if (factor.atom != node) return power(node_range(factor.atom), factor.exponent);
      return range(node->operands[0]).low >= 1 && range(node->operands[1]).low >= 0
                 ? Range{1, kPlus}
                 : kAnything;
    }
    case Kind::kFloorDiv:
      return floor_div_range(range(node->operands[0]), range(node->operands[1]));
    case Kind::kMod:
      return mod_range(node);
    case Kind::kMin:
    case Kind::kMax: {
      Range result = range(node->operands[0]);
      for (Expr operand : node->arguments()) {
        const Range r = range(operand);
        result = node->kind == Kind::kMin
                     ? Range{std::min(result.low, r.low), std::min(result.high, r.high)}
                     : Range{std::max(result.low, r.low), std::max(result.high, r.high)};
      }
      return result;
    }
    case Kind::kTruncToInt:
    case Kind::kFloorToInt:
    case Kind::kCeilToInt:
    case Kind::kRoundToInt:
      return rounding_range(node);
    case Kind::kIf:
      return join(range(node->operands[1]), range(node->operands[2]));
    default:
      return kAnything;
  }
}

Range node_range(const Node* node) {
  if (node->kind == Kind::kSymbol) return node->type == Type::kInt ? node->range : kAnything;
  if (!node->pool) return kAnything;
  if (node->range_epoch != node->pool->epoch) {
    node->range = compute(node);
    node->range_epoch = node->pool->epoch;
  }
  return node->range;
}

double real_bound(std::int64_t bound) {
  if (bound == kMinus) return -INFINITY;
  if (bound == kPlus) return INFINITY;
  return static_cast<double>(bound);
}

}  // namespace

Range range_of(const Polynomial& p) { return bounded_range(p); }

Range range(Expr e) { return e.is_constant() ? Range{e.value(), e.value()} : node_range(e.node()); }

RealRange real_range(Expr e) {
  constexpr RealRange kAnyReal{-INFINITY, INFINITY};
  const auto sane = [&](RealRange r) {
    return std::isnan(r.low) || std::isnan(r.high) ? kAnyReal : r;
  };
  if (!e.is_float()) {
    const Range r = range(e);
    return {real_bound(r.low), real_bound(r.high)};
  }
  switch (e.kind()) {
    case Kind::kReal:
      return sane({e.real(), e.real()});
    case Kind::kToFloat:
      return real_range(e.operands()[0]);
    case Kind::kAdd: {
      RealRange result{0, 0};
      for (Expr operand : e.operands()) {
        const RealRange r = real_range(operand);
        result = sane({result.low + r.low, result.high + r.high});
      }
      return result;
    }
    case Kind::kMul: {
      RealRange result{1, 1};
      for (Expr operand : e.operands()) {
        const RealRange r = real_range(operand);
        const auto times = [](double a, double b) { return a == 0 || b == 0 ? 0 : a * b; };
        const auto [low, high] =
            std::minmax({times(result.low, r.low), times(result.low, r.high),
                         times(result.high, r.low), times(result.high, r.high)});
        result = {low, high};
      }
      return sane(result);
    }
    case Kind::kTrueDiv: {
      const RealRange a = real_range(e.operands()[0]);
      const RealRange b = real_range(e.operands()[1]);
      if (a.low >= 0 && b.low >= 0) return {0, b.low >= 1 ? a.high / b.low : INFINITY};
      return kAnyReal;
    }
    case Kind::kSqrt:
      return {0, INFINITY};
    default:
      return kAnyReal;
  }
}

bool certainly_positive(Expr e) { return e.known() && !e.is_float() && range(e).low > 0; }
bool certainly_nonnegative(Expr e) { return e.known() && !e.is_float() && range(e).low >= 0; }

namespace {

// Bounds of b - a.
Range gap(Expr a, Expr b) {
  if (!a.known() || !b.known() || a.is_float() || b.is_float()) return kAnything;
  Polynomial p = polynomial_of(b);
  add_scaled(p, polynomial_of(a), -1);
  return range_of(p);
}

}  // namespace

bool certainly_less(Expr a, Expr b) { return gap(a, b).low > 0; }
bool certainly_less_equal(Expr a, Expr b) { return gap(a, b).low >= 0; }

bool certainly_differ(Expr a, Expr b) {
  if (!a.known() || !b.known()) return false;
  return build_comparison(Kind::kEq, a, b).is(0);
}

}  // namespace sardonyx::symbolic
