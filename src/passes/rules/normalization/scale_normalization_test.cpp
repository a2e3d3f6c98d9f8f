#include "passes/rules/normalization/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;

class ScaleNormalization : public RulesTest {
 protected:
  Value x = input("x", {b, s, 4});
  Value ones = onnx.constant(onnx::Tensor::filled(onnx::DType::kFloat32, {4}, 1));
  Value scale = weight("scale", {4}, {1, 2, 3, 4});
};

TEST_F(ScaleNormalization, TakesAVectorOfTheLastAxis) {
  outputs({onnx.mul(onnx.rms_normalization(x, ones), scale),
           onnx.mul(scale, onnx.layer_normalization(x, ones, {}))});
  EXPECT_TRUE(run(kScaleNormalization));
  EXPECT_EQ(ops(), "RMSNormalization LayerNormalization");
  EXPECT_EQ(model.graph->first->input(1), scale.info());
  EXPECT_EQ(model.graph->last->input(1), scale.info());
}

TEST_F(ScaleNormalization, DeclinesAScaleOfEveryElement) {
  outputs({onnx.mul(onnx.rms_normalization(x, ones), input("z", {b, s, 4}))});
  EXPECT_FALSE(run(kScaleNormalization));
  EXPECT_EQ(reason(), "what it is scaled by is not of the sizes normalized over");
}

TEST_F(ScaleNormalization, AWeightOfOnesStays) {
  const Value weight_of_ones = weight("w", {4}, {1, 1, 1, 1});
  outputs({onnx.mul(onnx.rms_normalization(x, weight_of_ones), scale)});
  EXPECT_FALSE(run(kScaleNormalization));
}

TEST_F(ScaleNormalization, WhatHasAScaleOrABiasStays) {
  outputs({onnx.mul(onnx.rms_normalization(x, scale), scale),
           onnx.mul(onnx.layer_normalization(x, ones, scale), scale)});
  EXPECT_FALSE(run(kScaleNormalization));
}

}  // namespace
}  // namespace sardonyx::passes
