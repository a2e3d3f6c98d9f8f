#include "passes/rules/activations/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Value;

class RaiseSigmoid : public RulesTest {
 protected:
  Value x = input("x", {b, s, 4});

  Value number(double value) { return onnx.scalar(value, DType::kFloat32); }
};

TEST_F(RaiseSigmoid, OfAnExponential) {
  const Value sum = onnx.add(onnx.exp(onnx.neg(x)), number(1));
  outputs({onnx.reciprocal(sum)});
  EXPECT_TRUE(run(kRaiseSigmoid));
  EXPECT_EQ(ops(), "Sigmoid");
}

TEST_F(RaiseSigmoid, AnotherNumeratorStays) {
  outputs({onnx.div(number(2), onnx.add(onnx.exp(onnx.neg(x)), number(1)))});
  EXPECT_FALSE(run(kRaiseSigmoid));
}

}  // namespace
}  // namespace sardonyx::passes
