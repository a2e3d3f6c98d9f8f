#include "passes/rules/activations/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Value;

class RaiseHardSwish : public RulesTest {
 protected:
  Value x = input("x", {b, s, 4});

  Value number(double value) { return onnx.scalar(value, DType::kFloat32); }

  Value clipped() { return onnx.clip(onnx.add(x, number(3)), number(0), number(6)); }
};

TEST_F(RaiseHardSwish, OfAClip) {
  outputs({onnx.div(onnx.mul(x, clipped()), number(6))});
  EXPECT_TRUE(run(kRaiseHardSwish));
  EXPECT_EQ(ops(), "HardSwish");
}

TEST_F(RaiseHardSwish, OfHardSigmoid) {
  outputs({onnx.mul(onnx.hard_sigmoid(x, {.alpha = 1.0F / 6.0F, .beta = 0.5F}), x)});
  EXPECT_TRUE(run(kRaiseHardSwish));
  EXPECT_EQ(ops(), "HardSwish");
}

TEST_F(RaiseHardSwish, AnotherSlopeStays) {
  outputs({onnx.mul(onnx.hard_sigmoid(x, {.alpha = 0.2F, .beta = 0.5F}), x)});
  EXPECT_FALSE(run(kRaiseHardSwish));
}

}  // namespace
}  // namespace sardonyx::passes
