#include "passes/rules/weights/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;

TEST_F(RulesTest, BatchNormGoesIntoConv) {
  const Value x = input("x", {b, 1, 4});
  const Value w = weight("w", {2, 1, 1}, {1, 2}), bias = weight("bias", {2}, {1, 1});
  const Value y = onnx.batch_normalization(
      onnx.conv(x, w, bias), weight("scale", {2}, {4, 3}), weight("shift", {2}, {10, 20}),
      weight("mean", {2}, {0.5F, 0}), weight("variance", {2}, {4, 9}), {.epsilon = 0.0F});
  const std::string name = y->name;
  outputs({y});
  EXPECT_TRUE(run(kFoldBatchNorm));
  EXPECT_EQ(ops(), "Conv");
  EXPECT_EQ(model.graph->outputs[0]->name, name);
  const onnx::Node* conv = model.graph->first;
  EXPECT_EQ(reals(conv->input(1)), (std::vector<double>{2, 2}));
  EXPECT_EQ(reals(conv->input(2)), (std::vector<double>{11, 21}));
  EXPECT_EQ(conv->input(1)->made_of.front(), w.info());
}

TEST_F(RulesTest, BatchNormFollowsTheChannelsOfGroupedTransposedConvolution) {
  const Value x = input("x", {b, 2, 4});
  // [inputs 2, outputs a group 2, 1], two groups: channels 0 1 | 2 3.
  const Value w = weight("w", {2, 2, 1}, {1, 1, 1, 1});
  const Value ones = weight("ones", {4}, {1, 1, 1, 1}), zeros = weight("zeros", {4}, {0, 0, 0, 0});
  outputs({onnx.batch_normalization(onnx.conv_transpose(x, w, Value(), {.group = 2}),
                                    weight("scale", {4}, {1, 2, 3, 4}), zeros, zeros, ones,
                                    {.epsilon = 0.0F})});
  EXPECT_TRUE(run(kFoldBatchNorm));
  EXPECT_EQ(ops(), "ConvTranspose");
  EXPECT_EQ(reals(model.graph->first->input(1)), (std::vector<double>{1, 2, 3, 4}));
}

class HalfBatchNorm : public RulesTest {
 protected:
  Value half(const std::string& name, std::vector<std::int64_t> dims, double value) {
    return model.add_weight(name,
                            onnx::Tensor::filled(base::DType::kFloat16, std::move(dims), value));
  }
  // Of weights of 0.3, by this factor.
  void normalize(double factor) {
    const Value x = input("x", {b, 1, 4}, base::DType::kFloat16);
    const Value y = onnx.conv(x, half("w", {2, 1, 1}, 0.3), Value());
    outputs({onnx.batch_normalization(y, half("scale", {2}, factor), half("shift", {2}, 0.1),
                                      half("mean", {2}, 0.2), half("variance", {2}, 1),
                                      {.epsilon = 0.0F})});
  }
};

TEST_F(HalfBatchNorm, IsFoldedInDoubleAndRoundedOnce) {
  normalize(3);
  EXPECT_TRUE(run(kFoldBatchNorm));
  EXPECT_EQ(ops(), "Conv");
  EXPECT_EQ(model.graph->first->input(1)->dtype, base::DType::kFloat16);
  EXPECT_NEAR(reals(model.graph->first->input(1))[0], 0.9, 0.0005);
  EXPECT_NEAR(reals(model.graph->first->input(2))[0], -0.5, 0.0005);
}

TEST_F(HalfBatchNorm, StaysWhereTheScaledWeightIsBelowTheRangeOfHalves) {
  normalize(1e-5);
  EXPECT_FALSE(run(kFoldBatchNorm));
  EXPECT_EQ(reason(), "float16 does not hold the scaled weight");
}

TEST_F(RulesTest, BatchNormStaysWhereTheConvolutionIsReadTwice) {
  const Value x = input("x", {b, 1, 4});
  const Value y = onnx.conv(x, weight("w", {2, 1, 1}, {1, 2}), Value());
  const Value ones = weight("ones", {2}, {1, 1});
  outputs({onnx.add(y, onnx.batch_normalization(y, ones, ones, ones, ones))});
  EXPECT_FALSE(run(kFoldBatchNorm));
}

}  // namespace
}  // namespace sardonyx::passes
