#include "passes/rules/activations/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Value;

class RaiseSoftplus : public RulesTest {
 protected:
  Value x = input("x", {b, s, 4});

  Value number(double value) { return onnx.scalar(value, DType::kFloat32); }
};

TEST_F(RaiseSoftplus, WithoutOverflow) {
  const Value tail = onnx.log(onnx.add(onnx.exp(onnx.neg(onnx.abs(x))), number(1)));
  outputs({onnx.add(onnx.relu(x), tail)});
  EXPECT_TRUE(run(kRaiseSoftplus));
  EXPECT_EQ(ops(), "Softplus");
}

TEST_F(RaiseSoftplus, Plain) {
  outputs({onnx.log(onnx.add(onnx.exp(x), number(1)))});
  EXPECT_TRUE(run(kRaiseSoftplus));
  EXPECT_EQ(ops(), "Softplus");
}

TEST_F(RaiseSoftplus, LinearAboveAThreshold) {
  outputs({onnx.where(onnx.greater(x, number(20)), x, onnx.softplus(x))});
  EXPECT_TRUE(run(kRaiseSoftplus));
  EXPECT_EQ(ops(), "Softplus");
}

TEST_F(RaiseSoftplus, DeclinesALowThreshold) {
  outputs({onnx.where(onnx.greater(x, number(2)), x, onnx.softplus(x))});
  EXPECT_FALSE(run(kRaiseSoftplus));
  EXPECT_EQ(reason(), "Softplus is not linear from the threshold on");
}

}  // namespace
}  // namespace sardonyx::passes
