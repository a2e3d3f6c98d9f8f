#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "symbolic/expr.h"

namespace sardonyx::symbolic {
namespace {

class ParseTest : public ::testing::Test {
 protected:
  Pool pool;
  std::string read(std::string_view text) { return parse_srepr(pool, text).str(); }
  std::string code(std::string_view text) {
    try {
      parse_srepr(pool, text);
    } catch (const base::Error& error) {
      return error.diagnostics().at(0).code;
    }
    return "";
  }
};

constexpr const char* kS0 = "Symbol('s0', positive=True, integer=True)";
constexpr const char* kU0 = "Symbol('u0', integer=True)";

// `form` with %s for s0 and %u for u0.
std::string filled(std::string_view form) {
  std::string text;
  for (std::size_t i = 0; i < form.size(); ++i) {
    if (form[i] == '%' && form[i + 1] == 's') {
      text += kS0;
      ++i;
    } else if (form[i] == '%' && form[i + 1] == 'u') {
      text += kU0;
      ++i;
    } else {
      text += form[i];
    }
  }
  return text;
}

TEST_F(ParseTest, WhatSympyWrites) {
  const std::pair<const char*, const char*> cases[] = {
      {"Integer(12)", "12"},
      {"%s", "s0"},
      {"Add(Mul(Integer(2), %s), Integer(1))", "2*s0 + 1"},
      {"Add(%s, Mul(Integer(-1), %u))", "s0 - u0"},
      {"FloorDiv(Add(%s, Integer(1)), Integer(2))", "(s0 + 1)//2"},
      {"CleanDiv(%s, Integer(4))", "s0//4"},
      {"CeilDiv(%s, Integer(4))", "(s0 + 3)//4"},
      {"Mod(%s, Integer(7))", "s0 % 7"},
      {"PythonMod(%u, Integer(7))", "u0 % 7"},
      {"ModularIndexing(%s, Integer(2), Integer(7))", "s0//2 - 7*(s0//14)"},
      {"Max(Integer(3), %s, %u)", "max(3, s0, u0)"},
      {"Min(%s, %u)", "min(s0, u0)"},
      {"ToFloat(%s)", "float(s0)"},
      {"TruncToInt(Mul(Float('0.5', precision=53), %s))", "s0//2"},
      {"TruncToInt(Mul(Float('0.10000000000000001', precision=53), ToFloat(%s)))",
       "int(0.1*float(s0))"},
      {"FloatTrueDiv(ToFloat(%s), Float('2.5', precision=53))", "float(s0)/2.5"},
      {"IntTrueDiv(%s, %u)", "s0/u0"},
      {"FloatPow(ToFloat(%s), Float('0.5', precision=53))", "sqrt(float(s0))"},
      {"OpaqueUnaryFn_sqrt(ToFloat(%s))", "sqrt(float(s0))"},
      {"OpaqueUnaryFn_log2(ToFloat(%s))", "log2(float(s0))"},
      {"Pow(%s, Integer(3))", "s0**3"},
      {"PowByNatural(Integer(2), %s)", "2**s0"},
      {"Pow(%s, Rational(1, 2))", "sqrt(float(s0))"},
      {"Equality(%s, %u)", "s0 == u0"},
      {"Unequality(%s, Integer(2))", "s0 != 2"},
      {"StrictLessThan(%s, %u)", "s0 < u0"},
      {"LessThan(%s, Integer(3))", "s0 <= 3"},
      {"StrictGreaterThan(%s, %u)", "u0 < s0"},
      {"GreaterThan(%s, %u)", "u0 <= s0"},
      {"And(StrictGreaterThan(%u, Integer(3)), StrictLessThan(%s, %u))", "4 <= u0 and s0 < u0"},
      {"Not(Equality(%s, Integer(3)))", "s0 != 3"},
      {"Where(StrictLessThan(%s, %u), %s, %u)", "s0 if s0 < u0 else u0"},
      {"Piecewise(ExprCondPair(%s, LessThan(%s, %u)), ExprCondPair(%u, true))",
       "s0 if s0 <= u0 else u0"},
      {"ITE(LessThan(%s, %u), LessThan(%u, Integer(3)), false)", "u0 <= 3 if s0 <= u0 else 0"},
      {"Abs(%u)", "max(u0, -u0)"},
      {"Abs(%s)", "s0"},
      {"true", "1"},
      {"false", "0"},
      {"int_oo", "9223372036854775807"},
      {"-oo", "-inf"},
      {"Identity(Add(%s, Integer(1)))", "s0 + 1"},
      {"floor(Mul(Rational(1, 3), %s))", "s0//3"},
      {"ceiling(Mul(Rational(1, 3), %s))", "(s0 + 2)//3"},
      {"Mul(%s, Pow(%u, Integer(-1)))", "s0/u0"},
      {"Mul(Integer(2), %s, Pow(%s, Integer(-1)))", "2"},
      {"Add(Mul(Rational(1, 2), %s), Rational(-1, 2))", "(s0 - 1)/2"},
      {"floor(Add(Mul(Rational(1, 2), %s), Rational(-1, 2)))", "(s0 + 1)//2 - 1"},
      {"RoundDecimal(ToFloat(%s), Integer(2))", "round(float(s0), 2.0)"},
      {"RoundToInt(Mul(Float('1.5', precision=53), %s))", "round(1.5*float(s0))"},
      {"CeilToInt(IntTrueDiv(%s, Integer(2)))", "(s0 + 1)//2"},
      {"TruncToFloat(Mul(Float('1.5', precision=53), %s))", "trunc(1.5*float(s0))"},
      {"LShift(%s, Integer(2))", "4*s0"},
      {"Symbol('zf0', real=True)", "zf0"},
      {"BitwiseFn_bitwise_and(%s, Integer(3))", "s0 % 4"},
      {"BitwiseFn_bitwise_and(Integer(6), %s)", "2*(s0//2) - 8*(s0//8)"},
      {"BitwiseFn_bitwise_or(%s, Integer(1))", "2*(s0//2) + 1"},
      {"BitwiseFn_bitwise_xor(%s, Integer(-1))", "-s0 - 1"},
      {"BitwiseFn_bitwise_and(%s, %u)", "?"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(read(filled(text)), expected) << text;
}

TEST_F(ParseTest, InfixText) {
  const std::pair<const char*, const char*> cases[] = {
      {"s0", "s0"},
      {"2*s0 + 1", "2*s0 + 1"},
      {"s0**2 - -3", "s0**2 + 3"},
      {"((s0 + 1)//2)", "(s0 + 1)//2"},
      {"Max(1, s0) % 4", "max(1, s0) % 4"},
      {"Eq(s0, 3)", "s0 == 3"},
      {"s0 >= 3", "3 <= s0"},
      {"(s0 < 3) & (s1 != 2)", "s1 != 2 and s0 <= 2"},
      {"s0/2", "s0/2"},
      {"-s0 + 5", "5 - s0"},
      {"ToFloat(s0)*1.5e-1", "0.15*float(s0)"},
      {"s0 if s1 == 2 else 3", "s0 if s1 == 2 else 3"},
      {"not s0 == 2 or s1 == 1", "s1 == 1 or s0 != 2"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(read(text), expected) << text;
}

TEST_F(ParseTest, AssumptionsSetRanges) {
  EXPECT_TRUE(certainly_nonnegative(parse_srepr(pool, kS0)));
  EXPECT_FALSE(certainly_nonnegative(parse_srepr(pool, kU0)));
  EXPECT_TRUE(parse_srepr(pool, "Symbol('zf1', real=True)").is_float());
  EXPECT_TRUE(parse_srepr(pool, "Symbol('zuf0')").is_float());
  EXPECT_TRUE(pool.symbol("zuf0") == parse_srepr(pool, "Symbol('zuf0')"));
}

TEST_F(ParseTest, NumbersBeyond64BitsBoundSizes) {
  const Expr bound =
      parse_srepr(pool, "LessThan(Symbol('u2', integer=True), Integer(27670116110564327418))");
  EXPECT_TRUE(bound.known());
  EXPECT_TRUE(bound.is_boolean());
}

TEST_F(ParseTest, MalformedTextIsRefused) {
  const char* cases[] = {"",
                         "Add(",
                         "Add(Integer(1)",
                         "Integer()",
                         "Integer(1, 2)",
                         "Symbol(s0)",
                         "Symbol('s0",
                         "Symbol('')",
                         "Nonsense(Integer(1))",
                         "FloorDiv(Integer(1), Integer(0))",
                         "Mod(Integer(1), Integer(0))",
                         "Pow(Integer(0), Integer(-1))",
                         "Integer(1) Integer(2)",
                         "FloorDiv(Integer(1))",
                         "Piecewise()",
                         "Float('x', precision=53)",
                         "zoo",
                         "1 +",
                         ")",
                         "'s0'",
                         "s0 = 1",
                         "\x01\xff"};
  for (const char* text : cases) EXPECT_EQ(code(text), "SX1401") << text;
}

TEST_F(ParseTest, DeepTextIsRefusedNotFollowed) {
  for (const char* open : {"(", "-", "~", "Max(", "not ", "1 if 1 else ", "2**"}) {
    std::string text;
    for (int i = 0; i < 100'000; ++i) text += open;
    EXPECT_EQ(code(text), "SX1401") << open;
  }
}

TEST_F(ParseTest, WideTextIsBounded) {
  std::string text = "Add(";
  for (int i = 0; i < 5000; ++i) text += "Symbol('a" + std::to_string(i) + "', integer=True), ";
  const Expr sum = parse_srepr(pool, text + "Integer(1))");
  ASSERT_TRUE(sum.known());
  EXPECT_FALSE(parse_srepr(pool, "Mul(" + text + "Integer(1)), " + text + "Integer(2)))").known());
}

// Every prefix and every one-byte corruption of a real expression ends in a value or SX1401.
TEST_F(ParseTest, CorruptedTextNeverCrashes) {
  const std::string text = filled(
      "Piecewise(ExprCondPair(FloorDiv(Add(%s, Integer(-1)), Integer(2)), "
      "And(LessThan(%s, %u), Unequality(Mod(%u, Integer(4)), Integer(0)))), "
      "ExprCondPair(TruncToInt(Mul(Float('0.5', precision=53), ToFloat(%u))), true))");
  for (std::size_t i = 0; i < text.size(); ++i) {
    // A prefix that is a word reads as a symbol.
    if (i > text.find('(')) {
      EXPECT_EQ(code(text.substr(0, i)), "SX1401") << i;
    }
    for (char c : {'(', ')', ',', '\'', '0', 'x', '-', '*', '\0'}) {
      std::string corrupt = text;
      corrupt[i] = c;
      const std::string result = code(corrupt);
      EXPECT_TRUE(result.empty() || result == "SX1401") << result;
    }
  }
}

}  // namespace
}  // namespace sardonyx::symbolic
