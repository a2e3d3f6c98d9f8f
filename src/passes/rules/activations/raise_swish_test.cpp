#include "passes/rules/activations/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Value;

class RaiseSwish : public RulesTest {
 protected:
  Value x = input("x", {b, s, 4});

  Value number(double value) { return onnx.scalar(value, DType::kFloat32); }
};

TEST_F(RaiseSwish, OfSigmoid) {
  outputs({onnx.mul(onnx.sigmoid(x), x)});
  EXPECT_TRUE(run(kRaiseSwish));
  EXPECT_EQ(ops(), "Swish");
  EXPECT_EQ(model.graph->first->float_or("alpha", 0), 1);
}

TEST_F(RaiseSwish, OfAScaledSigmoid) {
  outputs({onnx.mul(x, onnx.sigmoid(onnx.mul(number(1.702), x)))});
  EXPECT_TRUE(run(kRaiseSwish));
  EXPECT_EQ(model.graph->first->float_or("alpha", 0), 1.702F);
}

TEST_F(RaiseSwish, OfAnExponential) {
  outputs({onnx.div(x, onnx.add(number(1), onnx.exp(onnx.neg(x))))});
  EXPECT_TRUE(run(kRaiseSwish));
  EXPECT_EQ(ops(), "Swish");
}

TEST_F(RaiseSwish, AGateOfAnotherTensorStays) {
  outputs({onnx.mul(input("y", {b, s, 4}), onnx.sigmoid(x))});
  EXPECT_FALSE(run(kRaiseSwish));
}

TEST_F(RaiseSwish, DeclinesAFactorOfDouble) {
  const Value d = input("d", {b}, DType::kFloat64);
  outputs({onnx.mul(d, onnx.sigmoid(onnx.mul(d, onnx.scalar(1.702, DType::kFloat64))))});
  EXPECT_FALSE(run(kRaiseSwish));
  EXPECT_EQ(reason(), "float32, the type of the attribute, does not hold the factor");
}

}  // namespace
}  // namespace sardonyx::passes
