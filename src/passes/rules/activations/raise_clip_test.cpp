#include "passes/rules/activations/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Value;

class RaiseClip : public RulesTest {
 protected:
  Value x = input("x", {b, s, 4});

  Value number(double value) { return onnx.scalar(value, DType::kFloat32); }
  Value most(Value a, Value c) { return onnx.max({a, c}); }
  Value least(Value a, Value c) { return onnx.min({a, c}); }
};

TEST_F(RaiseClip, FromBelowAndAbove) {
  outputs({least(most(x, number(-1)), number(2)),
           most(number(-1), least(number(2), input("y", {b, 4})))});
  EXPECT_TRUE(run(kRaiseClip));
  EXPECT_EQ(ops(), "Clip Clip");
  EXPECT_EQ(reals(model.graph->first->input(1)), std::vector<double>{-1});
  EXPECT_EQ(reals(model.graph->first->input(2)), std::vector<double>{2});
}

TEST_F(RaiseClip, OfRelu) {
  outputs({least(onnx.relu(x), number(6))});
  EXPECT_TRUE(run(kRaiseClip));
  EXPECT_EQ(ops(), "Clip");
}

TEST_F(RaiseClip, DeclinesCrossedBounds) {
  outputs({least(most(x, number(3)), number(2))});
  EXPECT_FALSE(run(kRaiseClip));
  EXPECT_EQ(reason(), "the bounds are the wrong way round");
}

TEST_F(RaiseClip, BoundsThatAreTensorsStay) {
  outputs({least(most(x, input("low", {4})), number(2))});
  EXPECT_FALSE(run(kRaiseClip));
}

}  // namespace
}  // namespace sardonyx::passes
