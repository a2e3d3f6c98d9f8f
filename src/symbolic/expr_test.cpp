#include "symbolic/expr.h"

#include <gtest/gtest.h>

#include <array>

namespace sardonyx::symbolic {
namespace {

class ExprTest : public ::testing::Test {
 protected:
  Pool pool;
  Expr s0 = pool.symbol("s0");
  Expr s1 = pool.symbol("s1");
  Expr u0 = pool.symbol("u0");

  void SetUp() override { pool.constrain(u0, {}); }  // may be negative

  Expr make(Kind kind, std::initializer_list<Expr> operands, std::string_view name = {}) {
    return pool.make(kind, std::span(operands.begin(), operands.size()), name);
  }
};

TEST_F(ExprTest, ConstantsNeedNoPool) {
  const Expr e = Expr(3) * 4 + 1;
  EXPECT_TRUE(e.is(13));
  EXPECT_EQ(e.kind(), Kind::kInteger);
  EXPECT_TRUE(floor_div(-7, 2).is(-4));
  EXPECT_TRUE(floor_div(7, -2).is(-4));
  EXPECT_TRUE(mod(-7, 2).is(1));
  EXPECT_TRUE(mod(7, -2).is(-1));
  EXPECT_TRUE(ceil_div(7, 2).is(4));
  EXPECT_TRUE(pow(3, 4).is(81));
  EXPECT_TRUE(min(3, 4).is(3));
  EXPECT_TRUE(product({}).is(1));
  EXPECT_TRUE(sum({}).is(0));
}

TEST_F(ExprTest, UnknownIsNeverEqualAndSpreads) {
  const Expr unknown;
  EXPECT_FALSE(unknown.known());
  EXPECT_FALSE(unknown == unknown);
  EXPECT_FALSE(unknown.is_constant());
  EXPECT_FALSE((unknown + 1).known());
  EXPECT_FALSE((s0 * unknown).known());
  EXPECT_FALSE(max(s0, unknown).known());
  EXPECT_EQ(unknown.str(), "?");
  EXPECT_FALSE(certainly_nonnegative(unknown));
  EXPECT_FALSE(certainly_differ(unknown, 1));
}

TEST_F(ExprTest, OverflowAndDivisionByZeroAreUnknown) {
  const Expr huge = std::numeric_limits<std::int64_t>::max();
  const Expr lowest = std::numeric_limits<std::int64_t>::min();
  EXPECT_FALSE((huge + 1).known());
  EXPECT_FALSE((huge * 2).known());
  EXPECT_FALSE((-lowest).known());
  EXPECT_FALSE(floor_div(lowest, -1).known());
  EXPECT_TRUE(mod(lowest, -1).is(0));
  EXPECT_FALSE(floor_div(1, 0).known());
  EXPECT_FALSE(mod(s0, 0).known());
  EXPECT_FALSE((s0 * huge * 2).known());
  EXPECT_FALSE(((s0 * huge) + s0).known());
  EXPECT_FALSE(pow(10, 40).known());
}

TEST_F(ExprTest, SumsAndProductsArePolynomials) {
  EXPECT_EQ(s0 + s1, s1 + s0);
  EXPECT_EQ(s0 * s1, s1 * s0);
  EXPECT_EQ(s0 + s0, 2 * s0);
  EXPECT_TRUE((s0 - s0).is(0));
  EXPECT_EQ((s0 + 1) * (s0 - 1), s0 * s0 - 1);
  EXPECT_EQ((s0 + s1) * 3, 3 * s0 + 3 * s1);
  EXPECT_EQ(pow(s0 + 1, 2), s0 * s0 + 2 * s0 + 1);
  EXPECT_EQ(pow(2 * s0 * s1, 3), 8 * s0 * s0 * s0 * s1 * s1 * s1);
  EXPECT_EQ(product(std::array{s0, Expr(4), s1}), 4 * s0 * s1);
  EXPECT_EQ(sum(std::array{s0, Expr(4), s1, s0}), 4 + s1 + 2 * s0);
}

TEST_F(ExprTest, BigProductsStayFactoredButEqual) {
  Expr a = 1;
  Expr b = 2;
  for (int i = 0; i < 20; ++i) {
    a = a + pool.symbol("a" + std::to_string(i));
    b = b + pool.symbol("b" + std::to_string(i));
  }
  EXPECT_TRUE((a * b).known());
  EXPECT_EQ(a * b, b * a);
  EXPECT_EQ(a * b - b * a, Expr(0));
  EXPECT_EQ(2 * (a * b), a * b + b * a);
}

TEST_F(ExprTest, FloorDivOfConstants) {
  EXPECT_EQ(floor_div(4 * s0, 2), 2 * s0);
  EXPECT_EQ(floor_div(4 * s0 + 6, 4), floor_div(2 * s0 + 3, 2));
  EXPECT_EQ(floor_div(4 * s0 + 6, 4), s0 + 1);
  EXPECT_EQ(floor_div(5 * s0 + 1, 2).str(), "2*s0 + (s0 + 1)//2");
  EXPECT_EQ(floor_div(s0 - 1, 2) + 1, floor_div(s0 + 1, 2));
  EXPECT_EQ(floor_div(floor_div(s0, 2), 3), floor_div(s0, 6));
  EXPECT_EQ(floor_div(floor_div(s0 + 1, 2) + 1, 2), floor_div(s0 + 3, 4));
  EXPECT_EQ(ceil_div(s0, 4), floor_div(s0 + 3, 4));
  EXPECT_EQ(-floor_div(-s0, 4), floor_div(s0 + 3, 4));
  EXPECT_EQ(-floor_div(-s0, 2), floor_div(s0 + 1, 2));
  EXPECT_EQ(floor_div(3 * s0, 4), s0 - floor_div(s0 + 3, 4));
  EXPECT_EQ(floor_div(s0 - s1, 3), s0 - s1 - floor_div(2 * s0 - 2 * s1 + 2, 3));
  EXPECT_EQ(floor_div(s0, -2), floor_div(-s0, 2));
  EXPECT_EQ(floor_div(s0, 1), s0);
}

TEST_F(ExprTest, FloorDivOfExpressions) {
  pool.constrain(s1, {1, 1000});
  const Expr t = pool.symbol("t");
  EXPECT_EQ(floor_div(s0 * s1, s1), s0);
  EXPECT_EQ(floor_div(s0 * s1 + s1, s1), s0 + 1);
  EXPECT_EQ(floor_div(s0 * t, 2 * t), floor_div(s0, 2));
  EXPECT_EQ(floor_div(s0 * t + 3, t), s0 + floor_div(3, t));
  EXPECT_EQ(floor_div((s0 + 1) * (s1 + 2), s1 + 2), s0 + 1);
  EXPECT_EQ(floor_div(floor_div(s0, 2), t), floor_div(s0, 2 * t));
  EXPECT_EQ(floor_div(s0, s0), Expr(1));
}

TEST_F(ExprTest, Mod) {
  EXPECT_TRUE(mod(4 * s0, 4).is(0));
  EXPECT_EQ(mod(5 * s0 + 9, 4), mod(s0 + 1, 4));
  EXPECT_EQ(mod(s0, 4).kind(), Kind::kMod);
  EXPECT_EQ(mod(s0, 4).str(), "s0 % 4");
  EXPECT_EQ(floor_div(s0, 4) * 4 + mod(s0, 4), s0);
  EXPECT_EQ(s0 - mod(s0, 4), 4 * floor_div(s0, 4));
  EXPECT_EQ((s1 + mod(s0, 4)).str(), "s1 + s0 % 4");
  EXPECT_EQ(s1 + mod(s0, 4) - s1, mod(s0, 4));
  EXPECT_EQ(mod(mod(s0, 12), 4), mod(s0, 4));
  EXPECT_EQ(mod(s0 * s1, s1), Expr(0));
  EXPECT_EQ(mod(s0, s1).str(), "s0 % s1");
}

TEST_F(ExprTest, PaddingToAMultiple) {
  // Window attention pads by (n - x % n) % n, then divides by n.
  const Expr padded = s0 + mod(7 - mod(s0, 7), 7);
  EXPECT_EQ(padded, 7 * floor_div(s0 + 6, 7));
  EXPECT_EQ(floor_div(padded, 7), ceil_div(s0, 7));
  EXPECT_TRUE(mod(padded, 7).is(0));
  EXPECT_EQ(s0 + mod(-s0, 7), padded);
}

TEST_F(ExprTest, RangesDecideDivisions) {
  const Expr small = pool.symbol("small");
  pool.constrain(small, {0, 6});
  EXPECT_TRUE(floor_div(small, 7).is(0));
  EXPECT_EQ(mod(small, 7), small);
  EXPECT_TRUE(floor_div(small + 7, 14).is(0));
  EXPECT_TRUE(floor_div(small + 14, 7).is(2));
  const Expr big = pool.symbol("big");
  pool.constrain(big, {10, 100});
  EXPECT_TRUE(floor_div(small, big).is(0));
  EXPECT_EQ(mod(small, big), small);
}

TEST_F(ExprTest, MinAndMax) {
  const Expr t = pool.symbol("t");
  EXPECT_EQ(max(s0, s1), max(s1, s0));
  EXPECT_EQ(max(max(s0, s1), t), max(s0, max(t, s1)));
  EXPECT_EQ(max(s0, 0), s0);
  EXPECT_EQ(max(s0, -3), s0);
  EXPECT_EQ(min(s0, s0 + 1), s0);
  EXPECT_EQ(max(s0, s0 + s1), s0 + s1);
  EXPECT_EQ(max(max(s0, 3), 5).str(), "max(5, s0)");
  EXPECT_EQ(max(s0, min(s0, s1)), s0);
  EXPECT_EQ(min(s0, s0 * 2), s0);
  EXPECT_EQ(max(u0, 0).str(), "max(0, u0)");
}

TEST_F(ExprTest, Comparisons) {
  const Expr t = pool.symbol("t");
  pool.constrain(t, {2, 10});
  EXPECT_TRUE(apply(Kind::kLt, {t, 11}).is(1));
  EXPECT_TRUE(apply(Kind::kEq, {t, 1}).is(0));
  EXPECT_TRUE(apply(Kind::kNe, {t, 11}).is(1));
  EXPECT_TRUE(apply(Kind::kEq, {2 * s0, 2 * s1 + 1}).is(0));
  EXPECT_EQ(apply(Kind::kLt, {s0, 5}), apply(Kind::kLe, {s0, 4}));
  EXPECT_EQ(apply(Kind::kLe, {2 * s0, 5}), apply(Kind::kLe, {s0, 2}));
  EXPECT_EQ(apply(Kind::kEq, {s0, s1}), apply(Kind::kEq, {s1, s0}));
  EXPECT_EQ(apply(Kind::kEq, {2 * s0, 4}), apply(Kind::kEq, {2, s0}));
  EXPECT_EQ(apply(Kind::kNot, {apply(Kind::kEq, {s0, s1})}), apply(Kind::kNe, {s0, s1}));
  EXPECT_EQ(apply(Kind::kNot, {apply(Kind::kLt, {s0, s1})}), apply(Kind::kLe, {s1, s0}));
  EXPECT_TRUE(apply(Kind::kEq, {s0, s1}).is_boolean());
  EXPECT_EQ(apply(Kind::kLt, {s0, 5}).str(), "s0 <= 4");
  EXPECT_EQ(apply(Kind::kLe, {5, s0}).str(), "5 <= s0");
}

TEST_F(ExprTest, Logic) {
  const Expr a = apply(Kind::kEq, {s0, 3});
  const Expr b = apply(Kind::kLe, {s1, 3});
  EXPECT_EQ(apply(Kind::kAnd, {a, b}), apply(Kind::kAnd, {b, a, 1}));
  EXPECT_TRUE(apply(Kind::kAnd, {a, 0}).is(0));
  EXPECT_EQ(apply(Kind::kOr, {a, 0}), a);
  EXPECT_TRUE(apply(Kind::kOr, {a, apply(Kind::kNot, {a})}).is(1));
  EXPECT_EQ(apply(Kind::kNot, {apply(Kind::kAnd, {a, b})}),
            apply(Kind::kOr, {apply(Kind::kNot, {a}), apply(Kind::kNot, {b})}));
  EXPECT_EQ(apply(Kind::kEq, {a, 1}), a);
  EXPECT_EQ(apply(Kind::kNe, {a, 1}), apply(Kind::kNot, {a}));
  EXPECT_EQ(apply(Kind::kIf, {1, s0, s1}), s0);
  EXPECT_EQ(apply(Kind::kIf, {a, s0, s0}), s0);
  EXPECT_EQ(apply(Kind::kIf, {a, s0, s1}).str(), "s0 if s0 == 3 else s1");
}

TEST_F(ExprTest, Floats) {
  const Expr f = apply(Kind::kToFloat, {s0});
  EXPECT_TRUE(f.is_float());
  EXPECT_EQ(apply(Kind::kTruncToInt, {f}), s0);
  EXPECT_EQ(apply(Kind::kToFloat, {f}), f);
  EXPECT_EQ(apply(Kind::kTruncToInt, {s0}), s0);
  // Interpolation: int(2.0 * size) is 2*size.
  EXPECT_EQ(apply(Kind::kTruncToInt, {pool.real(2) * f}), 2 * s0);
  EXPECT_EQ(apply(Kind::kTruncToInt, {pool.real(0.5) * f}), floor_div(s0, 2));
  EXPECT_EQ(apply(Kind::kFloorToInt, {pool.real(1.5) * s0}), floor_div(3 * s0, 2));
  EXPECT_EQ(apply(Kind::kFloorToInt, {apply(Kind::kTrueDiv, {s0, 3})}), floor_div(s0, 3));
  EXPECT_EQ(apply(Kind::kCeilToInt, {apply(Kind::kTrueDiv, {s0, 3})}), ceil_div(s0, 3));
  EXPECT_EQ(apply(Kind::kTrueDiv, {6 * s0, 3}), apply(Kind::kToFloat, {2 * s0}));
  // 0.1 is no short fraction: the float arithmetic stays.
  EXPECT_EQ(apply(Kind::kTruncToInt, {pool.real(0.1) * f}).kind(), Kind::kTruncToInt);
  // (1/49)*49 is less than 1 in floats.
  const Expr third = apply(Kind::kTrueDiv, {s0, 49});
  EXPECT_EQ(apply(Kind::kFloorToInt, {third * pool.real(49)}).kind(), Kind::kFloorToInt);
  EXPECT_TRUE(apply(Kind::kRoundToInt, {pool.real(2.5)}).is(2));
  EXPECT_TRUE(apply(Kind::kRoundToInt, {pool.real(-3.5)}).is(-4));
  EXPECT_FALSE(apply(Kind::kTruncToInt, {pool.real(1e30)}).known());
  EXPECT_EQ(make(Kind::kSqrt, {Expr(16)}), pool.real(4));
  EXPECT_EQ(make(Kind::kFunction, {f}, "log").str(), "log(float(s0))");
  EXPECT_EQ(pow(f, pool.real(0.5)), make(Kind::kSqrt, {f}));
  EXPECT_TRUE(certainly_nonnegative(apply(Kind::kTruncToInt, {pool.real(0.1) * f})));
}

TEST_F(ExprTest, TruncationOfWhatMayBeNegativeIsNoFloorDivision) {
  const Expr half = pool.real(0.5) * apply(Kind::kToFloat, {u0});
  EXPECT_EQ(apply(Kind::kTruncToInt, {half}).kind(), Kind::kTruncToInt);
  EXPECT_EQ(apply(Kind::kFloorToInt, {half}), floor_div(u0, 2));
}

TEST_F(ExprTest, Text) {
  EXPECT_EQ((2 * s0 + 1).str(), "2*s0 + 1");
  EXPECT_EQ((5 - s0).str(), "5 - s0");
  EXPECT_EQ((-s0 - 1).str(), "-s0 - 1");
  EXPECT_EQ((s0 * s1 - 2 * s1 + s0 * s0).str(), "s0**2 + s0*s1 - 2*s1");
  EXPECT_EQ(floor_div(s0 + 3, 4).str(), "(s0 + 3)//4");
  EXPECT_EQ((3 * floor_div(s0 + 3, 4)).str(), "3*((s0 + 3)//4)");
  EXPECT_EQ(floor_div(s0, 1 + s1).str(), "s0//(s1 + 1)");
  EXPECT_EQ(floor_div(2 * s0, 5).str(), "(2*s0)//5");
  EXPECT_EQ(apply(Kind::kTrueDiv, {s0, s1}).str(), "s0/s1");
  EXPECT_EQ(pool.real(0.5).str(), "0.5");
  EXPECT_EQ(pool.real(2).str(), "2.0");
}

TEST_F(ExprTest, NamesGivenByTheUser) {
  const Expr size = s0 * s1 + 2 * s1;
  pool.rename(s1, "batch");
  pool.rename(s0, "seq");
  EXPECT_EQ(size.str(), "batch*seq + 2*batch");
  EXPECT_EQ(s1.name(), "s1");
  // Two sizes never print alike.
  pool.rename(u0, "batch");
  EXPECT_EQ(u0.str(), "batch_1");
  const Expr later = pool.symbol("seq");
  EXPECT_NE(later.str(), s0.str());
  pool.rename(s1, "n");
  pool.rename(u0, "batch");
  EXPECT_EQ(u0.str(), "batch");
}

TEST_F(ExprTest, FreshSymbolsAreNew) {
  const Expr a = pool.fresh("u");
  const Expr b = pool.fresh("u");
  EXPECT_EQ(a.name(), "u1");  // u0 is taken
  EXPECT_EQ(b.name(), "u2");
  EXPECT_FALSE(a == b);
}

TEST_F(ExprTest, TextDoesNotDependOnTheOrderOfCreation) {
  const auto text = [](std::initializer_list<const char*> order) {
    Pool p;
    for (const char* name : order) p.symbol(name);
    const Expr x = p.symbol("x");
    const Expr y = p.symbol("y");
    const Expr z = p.symbol("z");
    return (max(floor_div(z + y, 2), x) * (y + x * z) + mod(z, 3) + apply(Kind::kLe, {z, x})).str();
  };
  EXPECT_EQ(text({"x", "y", "z"}), text({"z", "y", "x"}));
  EXPECT_EQ(text({"x", "y", "z"}), text({"y", "z", "x"}));
}

TEST_F(ExprTest, Ranges) {
  const Expr t = pool.symbol("t");
  pool.constrain(t, {2, 10});
  EXPECT_EQ(range(3 * t + 1).low, 7);
  EXPECT_EQ(range(3 * t + 1).high, 31);
  EXPECT_EQ(range(10 - t).low, 0);
  EXPECT_EQ(range(floor_div(t, 3)).high, 3);
  EXPECT_TRUE(certainly_nonnegative(s0));
  EXPECT_FALSE(certainly_positive(s0));
  EXPECT_TRUE(certainly_positive(s0 + 1));
  EXPECT_FALSE(certainly_nonnegative(u0));
  EXPECT_TRUE(certainly_nonnegative(u0 * u0));
  EXPECT_TRUE(certainly_less(s0, s0 + 1));
  EXPECT_TRUE(certainly_less_equal(s0, s0 + s1));
  EXPECT_TRUE(certainly_differ(s0, s0 + 1));
  EXPECT_FALSE(certainly_differ(s0, s1));
  EXPECT_TRUE(certainly_differ(2 * s0, 2 * s1 + 1));
  // Through divisions, remainders, minima and common factors.
  EXPECT_TRUE(certainly_nonnegative(s0 - floor_div(s0, 2)));
  EXPECT_TRUE(certainly_nonnegative(s0 - ceil_div(s0, 4)));
  EXPECT_TRUE(certainly_less_equal(mod(u0, 7), 6));
  EXPECT_TRUE(certainly_nonnegative(mod(u0, 7)));
  EXPECT_TRUE(certainly_nonnegative(mod(s0, 7) + 7 - mod(s1, 7)));
  EXPECT_TRUE(certainly_less_equal(min(s0, s1), s0));
  EXPECT_TRUE(certainly_nonnegative(s0 - min(s0, 5)));
  EXPECT_TRUE(certainly_nonnegative(max(s0, 5) - 5));
  EXPECT_TRUE(certainly_less_equal(s0, s0 * t));
}

TEST_F(ExprTest, ConstrainReplacesThePresumptionThenNarrows) {
  const Expr v = pool.symbol("v");
  EXPECT_EQ(range(v).low, 0);
  pool.constrain(v, {-5, 100});
  EXPECT_EQ(range(v + 1).low, -4);
  pool.constrain(v, {2, 1000});
  EXPECT_EQ(range(v + 1).low, 3);
  EXPECT_EQ(range(v + 1).high, 101);
}

TEST_F(ExprTest, ExactQuotient) {
  EXPECT_EQ(exact_quotient(4 * s0 * s1, 2 * s0), 2 * s1);
  EXPECT_EQ(exact_quotient(s0 * s0 - 1, s0 + 1), s0 - 1);
  EXPECT_EQ(exact_quotient((s0 + 2) * (s1 + 3) * s0, s0 * s1 + 3 * s0), s0 + 2);
  EXPECT_FALSE(exact_quotient(s0, 2).known());
  EXPECT_FALSE(exact_quotient(s0 + 1, s0).known());
  EXPECT_FALSE(exact_quotient(s0, 0).known());
  EXPECT_TRUE(exact_quotient(0, s0).is(0));
  EXPECT_TRUE(exact_quotient(12, 4).is(3));
  EXPECT_FALSE(exact_quotient(13, 4).known());
  EXPECT_EQ(exact_quotient(7 * floor_div(s0 + 6, 7) * 12, floor_div(s0 + 6, 7)), Expr(84));
}

TEST_F(ExprTest, LinearIn) {
  const auto linear = linear_in(3 * s0 + s1 + 2, s0);
  ASSERT_TRUE(linear.has_value());
  EXPECT_EQ(linear->coefficient, 3);
  EXPECT_EQ(linear->rest, s1 + 2);
  EXPECT_FALSE(linear_in(s0 * s1, s0).has_value());
  EXPECT_FALSE(linear_in(s0 + floor_div(s0, 2), s0).has_value());
  EXPECT_FALSE(linear_in(s1, s0).has_value());
  EXPECT_TRUE(linear_in(s0, s0)->rest.is(0));
}

TEST_F(ExprTest, SubstituteAndSymbols) {
  EXPECT_EQ(substitute(2 * s0 + s1, s0, s1), 3 * s1);
  EXPECT_EQ(substitute(floor_div(s0 + 3, 4), s0, 9), Expr(3));
  EXPECT_EQ(substitute(2 * s0 * s1, s0 * s1, 5), Expr(10));
  EXPECT_EQ(substitute(mod(s0, 4) + s1, s0, 6), s1 + 2);
  const std::vector<Expr> symbols = symbols_of(floor_div(s1, s0 + 1) + s0);
  ASSERT_EQ(symbols.size(), 2U);
  EXPECT_EQ(symbols_of(Expr(3)).size(), 0U);
}

TEST_F(ExprTest, Evaluate) {
  const std::array<Binding, 2> values{{{s0, 10}, {s1, 3}}};
  EXPECT_EQ(evaluate(floor_div(s0, s1) * s1 + mod(s0, s1), values), 10);
  EXPECT_EQ(evaluate(max(s0, s1) - min(s0, s1), values), 7);
  EXPECT_EQ(evaluate(apply(Kind::kLe, {s0, s1}), values), 0);
  EXPECT_EQ(evaluate(u0, values), std::nullopt);
  EXPECT_EQ(evaluate(apply(Kind::kTrueDiv, {s0, s1}), values), std::nullopt);
  EXPECT_DOUBLE_EQ(*evaluate_real(apply(Kind::kTrueDiv, {s0, s1}), values), 10.0 / 3);
  const std::array<Binding, 2> zero{{{s0, 10}, {s1, 0}}};
  EXPECT_EQ(evaluate(floor_div(s0, s1), zero), std::nullopt);
}

TEST_F(ExprTest, DeepAndWideExpressionsBecomeUnknown) {
  Expr deep = u0;
  for (int i = 0; i < 2000; ++i) deep = max(floor_div(deep + s0, s1 + 2), i);
  EXPECT_FALSE(deep.known());
  Expr doubled = u0;
  for (int i = 0; i < 100; ++i) doubled = max(floor_div(doubled, s1 + 2), floor_div(doubled, 3));
  EXPECT_FALSE(doubled.known());
}

}  // namespace
}  // namespace sardonyx::symbolic
