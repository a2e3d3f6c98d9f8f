#include "passes/rules/activations/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using enum base::DType;
using onnx::Value;

class RaiseRelu : public RulesTest {
 protected:
  Value x = input("x", {b, 4});
  Value number(double each) { return onnx.scalar(each, kFloat32); }
};

TEST_F(RaiseRelu, TheGreaterOfItAndZero) {
  outputs({onnx.max({number(0), x})});
  EXPECT_TRUE(run(kRaiseRelu));
  EXPECT_EQ(ops(), "Relu");
}

TEST_F(RaiseRelu, TheGreaterOfItAndAPart) {
  outputs({onnx.max({x, onnx.mul(x, number(0.25))})});
  EXPECT_TRUE(run(kRaiseRelu));
  EXPECT_EQ(ops(), "LeakyRelu");
  EXPECT_EQ(model.graph->last->float_or("alpha", 0), 0.25F);
}

TEST_F(RaiseRelu, ChosenBySign) {
  const Value y = input("y", {b, 4});
  outputs({onnx.where(onnx.greater(x, number(0)), x, onnx.mul(x, number(-2))),
           onnx.where(onnx.less(y, number(0)), onnx.mul(number(0.5), y), y)});
  EXPECT_TRUE(run(kRaiseRelu));
  EXPECT_EQ(ops(), "LeakyRelu LeakyRelu");
}

TEST_F(RaiseRelu, ASteeperPartIsGreaterElsewhere) {
  outputs({onnx.max({x, onnx.mul(x, number(2))})});
  EXPECT_FALSE(run(kRaiseRelu));
  EXPECT_EQ(reason(), "the slope is not between 0 and 1");
}

TEST_F(RaiseRelu, IntegersStay) {
  outputs({onnx.max({input("i", {b}, kInt32), onnx.scalar(0, kInt32)})});
  EXPECT_FALSE(run(kRaiseRelu));
}

TEST_F(RaiseRelu, ZerosThatMakeItLargerStay) {
  outputs({onnx.max({input("row", {4}), onnx.unsqueeze(number(0), {0, 1})})});
  EXPECT_FALSE(run(kRaiseRelu));
}

}  // namespace
}  // namespace sardonyx::passes
