// Random expressions: the canonical form must have the value of the tree it was built from, for all
// values of the symbols, and bounds must hold.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <memory>
#include <random>

#include "symbolic/expr.h"

namespace sardonyx::symbolic {
namespace {

using Wide = __int128;

constexpr std::size_t kSymbols = 4;

// An expression as written, evaluated by the definition.
struct Tree {
  Kind kind = Kind::kInteger;
  std::int64_t value = 0;  // of a constant; the symbol's number
  std::vector<std::unique_ptr<Tree>> operands;
};

std::optional<Wide> floor_quotient(Wide a, Wide b) {
  if (b == 0) return std::nullopt;
  Wide q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

std::optional<Wide> value_of(const Tree& tree, std::span<const std::int64_t> symbols) {
  if (tree.kind == Kind::kInteger) return tree.value;
  if (tree.kind == Kind::kSymbol) return symbols[static_cast<std::size_t>(tree.value)];
  std::vector<Wide> n;
  for (const auto& operand : tree.operands) {
    const auto value = value_of(*operand, symbols);
    // Values beyond int64 are beyond what is promised.
    if (!value || *value > Wide{1} << 40 || *value < -(Wide{1} << 40)) return std::nullopt;
    n.push_back(*value);
  }
  switch (tree.kind) {
    case Kind::kAdd:
      return n[0] + n[1];
    case Kind::kMul:
      return n[0] * n[1];
    case Kind::kFloorDiv:
      return floor_quotient(n[0], n[1]);
    case Kind::kMod: {
      const auto q = floor_quotient(n[0], n[1]);
      return q ? std::optional(n[0] - *q * n[1]) : std::nullopt;
    }
    case Kind::kMin:
      return std::min(n[0], n[1]);
    case Kind::kMax:
      return std::max(n[0], n[1]);
    case Kind::kPow: {
      Wide result = 1;
      for (std::int64_t i = 0; i < tree.operands[1]->value; ++i) result *= n[0];
      return result;
    }
    case Kind::kEq:
      return n[0] == n[1];
    case Kind::kNe:
      return n[0] != n[1];
    case Kind::kLt:
      return n[0] < n[1];
    case Kind::kLe:
      return n[0] <= n[1];
    case Kind::kAnd:
      return n[0] != 0 && n[1] != 0;
    case Kind::kOr:
      return n[0] != 0 || n[1] != 0;
    case Kind::kNot:
      return n[0] == 0;
    case Kind::kIf:
      return n[0] != 0 ? n[1] : n[2];
    // Of the quotient of two integers, which are the operands.
    case Kind::kFloorToInt:
      return floor_quotient(n[0], n[1]);
    case Kind::kCeilToInt: {
      const auto q = floor_quotient(-n[0], n[1]);
      return q ? std::optional(-*q) : std::nullopt;
    }
    case Kind::kTruncToInt:
      return n[1] == 0 ? std::nullopt : std::optional(n[0] / n[1]);
    default:
      return std::nullopt;
  }
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }

 private:
  std::mt19937_64 engine_;
};

std::unique_ptr<Tree> leaf(Random& random) {
  auto tree = std::make_unique<Tree>();
  if (random.between(0, 2) == 0) {
    tree->value = random.between(-9, 12);
  } else {
    tree->kind = Kind::kSymbol;
    tree->value = random.between(0, kSymbols - 1);
  }
  return tree;
}

std::unique_ptr<Tree> random_tree(Random& random, int depth) {
  constexpr std::array kKinds{
      Kind::kAdd,        Kind::kAdd,       Kind::kAdd,       Kind::kMul, Kind::kMul,
      Kind::kFloorDiv,   Kind::kMod,       Kind::kFloorDiv,  Kind::kMod, Kind::kMin,
      Kind::kMax,        Kind::kPow,       Kind::kEq,        Kind::kNe,  Kind::kLt,
      Kind::kLe,         Kind::kAnd,       Kind::kOr,        Kind::kNot, Kind::kIf,
      Kind::kFloorToInt, Kind::kCeilToInt, Kind::kTruncToInt};
  if (depth == 0 || random.between(0, 9) == 0) return leaf(random);
  auto tree = std::make_unique<Tree>();
  tree->kind = kKinds[static_cast<std::size_t>(random.between(0, kKinds.size() - 1))];
  const std::size_t count = tree->kind == Kind::kNot ? 1 : tree->kind == Kind::kIf ? 3 : 2;
  for (std::size_t i = 0; i < count; ++i) tree->operands.push_back(random_tree(random, depth - 1));
  const bool divides = tree->kind == Kind::kFloorDiv || tree->kind == Kind::kMod ||
                       tree->kind == Kind::kFloorToInt || tree->kind == Kind::kCeilToInt ||
                       tree->kind == Kind::kTruncToInt;
  // Constant divisors are what programs have, and where most of the rules are.
  if (tree->kind == Kind::kPow || (divides && random.between(0, 3) != 0)) {
    tree->operands[1] = std::make_unique<Tree>();
    tree->operands[1]->value =
        tree->kind == Kind::kPow ? random.between(0, 3) : random.between(-6, 12);
  }
  return tree;
}

Expr built(const Tree& tree, Pool& pool, std::span<const Expr> symbols) {
  if (tree.kind == Kind::kInteger) return tree.value;
  if (tree.kind == Kind::kSymbol) return symbols[static_cast<std::size_t>(tree.value)];
  std::vector<Expr> operands;
  for (const auto& operand : tree.operands) operands.push_back(built(*operand, pool, symbols));
  if (tree.kind == Kind::kFloorToInt || tree.kind == Kind::kCeilToInt ||
      tree.kind == Kind::kTruncToInt) {
    const Expr quotient = pool.make(Kind::kTrueDiv, operands);
    return pool.make(tree.kind, std::span(&quotient, 1));
  }
  return pool.make(tree.kind, operands);
}

struct Domain {
  Range range;
  std::int64_t low, high;  // values to try
};
constexpr std::array<Domain, kSymbols> kDomains{{
    {{-1000, 1000}, -12, 12},
    {{0, std::numeric_limits<std::int64_t>::max()}, 0, 40},
    {{2, 9}, 2, 9},
    {{}, -5000, 5000},
}};

class Property : public ::testing::TestWithParam<int> {};

TEST_P(Property, CanonicalFormsKeepTheirValue) {
  Random random(static_cast<std::uint64_t>(GetParam()));
  Pool pool;
  std::vector<Expr> symbols;
  for (std::size_t i = 0; i < kSymbols; ++i) {
    symbols.push_back(pool.symbol("s" + std::to_string(i)));
    pool.constrain(symbols.back(), kDomains[i].range);
  }
  int compared = 0;
  for (int round = 0; round < 3000; ++round) {
    const auto tree = random_tree(random, 2 + round % 4);
    const Expr e = built(*tree, pool, symbols);
    if (!e.known()) continue;
    const Range bounds = range(e);
    const Expr reread = parse_srepr(pool, e.str());
    // Building a canonical form from its own text changes nothing.
    EXPECT_TRUE(reread == e) << e.str() << " read as " << reread.str();
    for (int sample = 0; sample < 12; ++sample) {
      std::array<std::int64_t, kSymbols> values{};
      std::vector<Binding> bindings;
      for (std::size_t i = 0; i < kSymbols; ++i) {
        values[i] = random.between(kDomains[i].low, kDomains[i].high);
        bindings.push_back({symbols[i], values[i]});
      }
      const auto expected = value_of(*tree, values);
      if (!expected || *expected > Wide{1} << 40 || *expected < -(Wide{1} << 40)) continue;
      const auto actual = evaluate(e, bindings);
      // Written out, a canonical form may divide by something the tree never reached.
      ASSERT_TRUE(actual.has_value()) << e.str();
      ASSERT_EQ(*actual, static_cast<std::int64_t>(*expected)) << e.str();
      ASSERT_LE(bounds.low, *actual) << e.str();
      ASSERT_GE(bounds.high, *actual) << e.str();
      ASSERT_EQ(evaluate(reread, bindings), actual) << e.str() << " read as " << reread.str();
      ++compared;
    }
  }
  EXPECT_GT(compared, 10'000);
}

// What has one value has one form, for the rewritings that programs do.
TEST_P(Property, RearrangedPolynomialsAreTheSame) {
  Random random(static_cast<std::uint64_t>(GetParam()) + 1000);
  Pool pool;
  std::vector<Expr> symbols;
  for (std::size_t i = 0; i < kSymbols; ++i) {
    symbols.push_back(pool.symbol("s" + std::to_string(i)));
    pool.constrain(symbols.back(), kDomains[i].range);
  }
  for (int round = 0; round < 500; ++round) {
    const Expr a = built(*random_tree(random, 3), pool, symbols);
    const Expr b = built(*random_tree(random, 3), pool, symbols);
    const Expr c = built(*random_tree(random, 2), pool, symbols);
    const auto same = [](Expr x, Expr y) { return !x.known() || !y.known() || x == y; };
    EXPECT_TRUE(same(a + b, b + a));
    EXPECT_TRUE(same((a + b) + c, a + (b + c))) << ((a + b) + c).str() << "\n"
                                                << (a + (b + c)).str();
    EXPECT_TRUE(same(a * b, b * a));
    EXPECT_TRUE(same(a * (b + c), a * b + a * c)) << (a * (b + c)).str() << "\n"
                                                  << (a * b + a * c).str();
    EXPECT_TRUE(same(a - a + b, b));
    const std::int64_t n = random.between(1, 9);
    EXPECT_TRUE(same(floor_div(a, n) * n + mod(a, n), a)) << a.str();
    // Of even divisors one identity is not known to the canonical form: x//2 + (x + 1)//2 = x.
    if (n % 2 != 0) {
      EXPECT_TRUE(same(mod(a + n * b, n), mod(a, n)));
      EXPECT_TRUE(same(floor_div(a + n * b, n), floor_div(a, n) + b));
    }
    EXPECT_TRUE(same(min(a, max(b, c)), min(max(c, b), a)));
    if (!b.is(0)) {
      EXPECT_TRUE(same(exact_quotient(a * b, b), a)) << a.str() << " ; " << b.str();
    }
  }
}

double rounded(Kind kind, double value) {
  switch (kind) {
    case Kind::kFloorToInt:
      return std::floor(value);
    case Kind::kCeilToInt:
      return std::ceil(value);
    case Kind::kRoundToInt:
      return std::nearbyint(value);
    default:
      return std::trunc(value);
  }
}

// Float arithmetic that ends in an integer, as for the size of an interpolated image, gives what
// doubles give, also where it became integer arithmetic.
TEST_P(Property, FloatsRoundAsWritten) {
  Random random(static_cast<std::uint64_t>(GetParam()) + 2000);
  Pool pool;
  const Expr n = pool.symbol("n");
  pool.constrain(n, {-1000, 100'000});
  constexpr std::array kFactors{2.0, 0.5, 0.1, 1.5, 3.0, 0.25, 1.3, 49.0, 7.0, 1.0 / 3, 100.0};
  constexpr std::array kRoundings{Kind::kFloorToInt, Kind::kCeilToInt, Kind::kRoundToInt,
                                  Kind::kTruncToInt};
  for (int round = 0; round < 2000; ++round) {
    const std::int64_t value = random.between(-300, 2000);
    Expr e = apply(Kind::kToFloat, {n});
    double expected = static_cast<double>(value);
    for (std::int64_t steps = random.between(0, 4); steps > 0; --steps) {
      const double factor = kFactors[static_cast<std::size_t>(random.between(0, 10))];
      const Expr constant = pool.real(factor);
      switch (random.between(0, 3)) {
        case 0:
          e = e * constant;
          expected *= factor;
          break;
        case 1:
          e = apply(Kind::kTrueDiv, {e, constant});
          expected /= factor;
          break;
        case 2:
          e = e + constant;
          expected += factor;
          break;
        default:
          e = e - constant;
          expected -= factor;
      }
    }
    const Kind kind = kRoundings[static_cast<std::size_t>(random.between(0, 3))];
    const Expr whole = apply(kind, {e});
    const std::array<Binding, 1> bindings{{{n, value}}};
    const auto actual = evaluate(whole, bindings);
    ASSERT_TRUE(actual.has_value()) << whole.str();
    ASSERT_EQ(static_cast<double>(*actual), rounded(kind, expected))
        << whole.str() << " of " << e.str() << " at " << value;
    const Range bounds = range(whole);
    ASSERT_LE(bounds.low, *actual) << whole.str();
    ASSERT_GE(bounds.high, *actual) << whole.str();
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Property, ::testing::Range(0, 8));

}  // namespace
}  // namespace sardonyx::symbolic
