#include "passes/rules/activations/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Value;

class RaiseHardSigmoid : public RulesTest {
 protected:
  Value x = input("x", {b, s, 4});

  Value number(double value) { return onnx.scalar(value, DType::kFloat32); }

  Value clipped() { return onnx.clip(onnx.add(x, number(3)), number(0), number(6)); }
};

TEST_F(RaiseHardSigmoid, OfAClip) {
  outputs({onnx.div(clipped(), number(6))});
  EXPECT_TRUE(run(kRaiseHardSigmoid));
  EXPECT_EQ(ops(), "HardSigmoid");
  EXPECT_EQ(model.graph->first->float_or("alpha", 0), 1.0F / 6.0F);
}

TEST_F(RaiseHardSigmoid, OfASlope) {
  const Value line = onnx.add(onnx.mul(x, number(0.2)), number(0.5));
  outputs({onnx.clip(line, number(0), number(1))});
  EXPECT_TRUE(run(kRaiseHardSigmoid));
  EXPECT_EQ(ops(), "HardSigmoid");
  EXPECT_EQ(model.graph->first->float_or("alpha", 0), 0.2F);
}

TEST_F(RaiseHardSigmoid, AnotherDivisorStays) {
  outputs({onnx.div(clipped(), number(5))});
  EXPECT_FALSE(run(kRaiseHardSigmoid));
}

}  // namespace
}  // namespace sardonyx::passes
