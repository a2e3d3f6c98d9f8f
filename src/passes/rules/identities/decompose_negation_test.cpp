#include "passes/rules/identities/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Value;

class DecomposeNegation : public RulesTest {
 protected:
  Value number(double value) { return onnx.scalar(value, DType::kFloat32); }
  Value x = input("x", {b, 4});
};

TEST_F(DecomposeNegation, TimesMinusOne) {
  outputs({onnx.mul(x, number(-1)), onnx.mul(number(-1), input("y", {b})),
           onnx.div(input("z", {b}), number(-1))});
  EXPECT_TRUE(run(kDecomposeNegation));
  EXPECT_EQ(ops(), "Neg Neg Neg");
}

TEST_F(DecomposeNegation, OtherFactorsStay) {
  outputs({onnx.mul(x, number(-2)), onnx.div(number(-1), x)});
  EXPECT_FALSE(run(kDecomposeNegation));
}

TEST_F(DecomposeNegation, AFactorThatAddsAxesStays) {
  outputs({onnx.mul(input("y", {b}), weight("w", {1, 1}, {-1}))});
  EXPECT_FALSE(run(kDecomposeNegation));
}

TEST_F(DecomposeNegation, NumbersWithoutASignStay) {
  const Value y = input("y", {b}, DType::kUInt8);
  outputs({onnx.mul(y, onnx.int_scalar(255, DType::kUInt8))});
  EXPECT_FALSE(run(kDecomposeNegation));
}

}  // namespace
}  // namespace sardonyx::passes
