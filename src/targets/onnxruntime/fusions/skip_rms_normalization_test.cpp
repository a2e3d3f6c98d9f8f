#include "rewriting/test_graph.h"
#include "targets/onnxruntime/fusions/fusions.h"

namespace sardonyx::targets {
namespace {

using onnx::Value;

class SkipRmsNormalization : public rewriting::RulesTest {
 protected:
  Value x = input("x", {b, s, 2}), skip = input("skip", {b, s, 2});

  Value normalized(Value sum) {
    return onnx.rms_normalization(sum, weight("scale", {2}, {1, 2}), {.epsilon = 0.5F});
  }
};

TEST_F(SkipRmsNormalization, GivesTheSumToItsOtherReaders) {
  const Value sum = onnx.add(x, skip);
  const Value other = onnx.exp(sum);  // reads it in front of the normalization
  outputs({other, normalized(sum)});
  ASSERT_TRUE(run(kSkipRmsNormalization));
  EXPECT_EQ(ops(), "SkipSimplifiedLayerNormalization Exp");
  const onnx::Node* made = model.graph->first;
  EXPECT_EQ(made->float_or("epsilon", 0), 0.5F);
  EXPECT_EQ(made->output(1), nullptr);
  EXPECT_EQ(model.graph->last->input(0), made->output(3));
}

TEST_F(SkipRmsNormalization, ASumOfItsOwnIsNotMade) {
  outputs({normalized(onnx.add(x, skip))});
  ASSERT_TRUE(run(kSkipRmsNormalization));
  EXPECT_EQ(model.graph->first->output(3), nullptr);
}

TEST_F(SkipRmsNormalization, LayerNormalizationHasABias) {
  const Value sum = onnx.add(x, skip);
  outputs({onnx.layer_normalization(sum, weight("scale", {2}, {1, 2}), weight("bias", {2}, {0, 1}),
                                    {.epsilon = 0.5F})});
  ASSERT_TRUE(run(kSkipLayerNormalization));
  EXPECT_EQ(ops(), "SkipLayerNormalization");
  EXPECT_EQ(model.graph->first->inputs.size(), 4U);
}

TEST_F(SkipRmsNormalization, SumsOfOtherShapesStay) {
  outputs({normalized(onnx.add(x, input("row", {1, 1, 2})))});
  EXPECT_FALSE(run(kSkipRmsNormalization));
  EXPECT_EQ(reason(), "what is added is not of one shape");
}

}  // namespace
}  // namespace sardonyx::targets
