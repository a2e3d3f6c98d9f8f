#include "passes/rules/identities/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Value;

class SpellNegation : public RulesTest {
 protected:
  Value number(double value) { return onnx.scalar(value, DType::kFloat32); }
  Value x = input("x", {b, 4});
};

TEST_F(SpellNegation, TimesMinusOne) {
  outputs({onnx.mul(x, number(-1)), onnx.mul(number(-1), input("y", {b})),
           onnx.div(input("z", {b}), number(-1))});
  EXPECT_TRUE(run(kSpellNegation));
  EXPECT_EQ(ops(), "Neg Neg Neg");
}

TEST_F(SpellNegation, OtherFactorsStay) {
  outputs({onnx.mul(x, number(-2)), onnx.div(number(-1), x)});
  EXPECT_FALSE(run(kSpellNegation));
}

TEST_F(SpellNegation, AFactorThatAddsAxesStays) {
  outputs({onnx.mul(input("y", {b}), weight("w", {1, 1}, {-1}))});
  EXPECT_FALSE(run(kSpellNegation));
}

TEST_F(SpellNegation, NumbersWithoutASignStay) {
  const Value y = input("y", {b}, DType::kUInt8);
  outputs({onnx.mul(y, onnx.int_scalar(255, DType::kUInt8))});
  EXPECT_FALSE(run(kSpellNegation));
}

}  // namespace
}  // namespace sardonyx::passes
