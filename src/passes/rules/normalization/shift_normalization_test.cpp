#include "passes/rules/normalization/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;

class ShiftNormalization : public RulesTest {
 protected:
  Value x = input("x", {b, s, 4});
  Value scale = weight("scale", {4}, {1, 2, 3, 4}), bias = weight("bias", {4}, {4, 3, 2, 1});
};

TEST_F(ShiftNormalization, TakesAVectorOfTheLastAxis) {
  outputs({onnx.add(bias, onnx.layer_normalization(x, scale, {}))});
  EXPECT_TRUE(run(kShiftNormalization));
  EXPECT_EQ(ops(), "LayerNormalization");
  EXPECT_EQ(model.graph->first->input(2), bias.info());
}

TEST_F(ShiftNormalization, ResidualsAndSecondBiasesStay) {
  outputs({onnx.add(onnx.layer_normalization(x, scale, {}), x),
           onnx.add(onnx.layer_normalization(x, scale, bias), bias)});
  EXPECT_FALSE(run(kShiftNormalization));
}

}  // namespace
}  // namespace sardonyx::passes
