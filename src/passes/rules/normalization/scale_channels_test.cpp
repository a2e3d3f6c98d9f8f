#include "passes/rules/normalization/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Value;

class ScaleChannels : public RulesTest {
 protected:
  Value x = input("x", {b, s, s, 2});
  Value ones = onnx.constant(onnx::Tensor::filled(DType::kFloat32, {2}, 1));
  Value normal = onnx.transpose(onnx.layer_normalization(x, ones), {0, 3, 1, 2});
};

TEST_F(ScaleChannels, ScaleAndBiasAreTaken) {
  const Value scale = weight("scale", {2, 1, 1}, {1, 2}),
              bias = weight("bias", {1, 2, 1, 1}, {3, 4});
  outputs({onnx.add(bias, onnx.mul(normal, scale))});
  EXPECT_TRUE(run(kScaleChannels));
  EXPECT_EQ(ops(), "Reshape Reshape LayerNormalization Transpose");
  const onnx::Node* made = model.graph->last->previous;
  EXPECT_EQ(made->input(1)->producer->input(0), scale.info());
  EXPECT_EQ(made->input(2)->producer->input(0), bias.info());
}

TEST_F(ScaleChannels, NumbersOfAnotherAxisStay) {
  outputs({onnx.mul(normal, weight("scale", {2}, {1, 2}))});
  EXPECT_FALSE(run(kScaleChannels));
}

TEST_F(ScaleChannels, AResidualStays) {
  outputs({onnx.add(normal, input("z", {b, 2, s, s}))});
  EXPECT_FALSE(run(kScaleChannels));
}

TEST_F(ScaleChannels, WhatIsScaledAlreadyStays) {
  const Value scaled = onnx.layer_normalization(x, weight("own", {2}, {3, 4}));
  outputs({onnx.mul(onnx.transpose(scaled, {0, 3, 1, 2}), weight("scale", {2, 1, 1}, {1, 2}))});
  EXPECT_FALSE(run(kScaleChannels));
}

}  // namespace
}  // namespace sardonyx::passes
