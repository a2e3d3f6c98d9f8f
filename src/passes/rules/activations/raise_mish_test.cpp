#include "passes/rules/activations/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Value;

class RaiseMish : public RulesTest {
 protected:
  Value x = input("x", {b, s, 4});

  Value number(double value) { return onnx.scalar(value, DType::kFloat32); }
};

TEST_F(RaiseMish, OfSoftplus) {
  outputs({onnx.mul(onnx.tanh(onnx.softplus(x)), x)});
  EXPECT_TRUE(run(kRaiseMish));
  EXPECT_EQ(ops(), "Mish");
}

TEST_F(RaiseMish, OfAnotherTensorStays) {
  outputs({onnx.mul(onnx.tanh(onnx.softplus(x)), input("y", {b, s, 4}))});
  EXPECT_FALSE(run(kRaiseMish));
}

}  // namespace
}  // namespace sardonyx::passes
