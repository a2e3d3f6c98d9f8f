#include "rewriting/test_graph.h"
#include "targets/onnxruntime/fusions/fusions.h"

namespace sardonyx::targets {
namespace {

using enum base::DType;
using onnx::Value;

class BiasGelu : public rewriting::RulesTest {
 protected:
  Value x = input("x", {b, s, 4}, kFloat32), bias = weight("bias", {4}, {1, 2, 3, 4});
};

TEST_F(BiasGelu, SumsWithABiasAreTakenIn) {
  for (const Value sum : {onnx.add(x, bias), onnx.add(bias, x)}) outputs({onnx.gelu(sum)});
  EXPECT_TRUE(run(kBiasGelu));
  const onnx::Node* last = model.graph->last;
  EXPECT_EQ(last->op_type, "BiasGelu");
  EXPECT_EQ(last->domain, "com.microsoft");
  EXPECT_EQ(last->inputs, (std::vector<onnx::ValueInfo*>{x.info(), bias.info()}));
  EXPECT_EQ(model.opsets.at("com.microsoft"), 1);
  EXPECT_EQ(last->output()->shape, x->shape);
  EXPECT_EQ(last->output()->dtype, kFloat32);
}

TEST_F(BiasGelu, TheApproximationIsAnother) {
  outputs({onnx.gelu(onnx.add(x, bias), {.approximate = "tanh"})});
  EXPECT_FALSE(run(kBiasGelu));
  EXPECT_TRUE(run(kFastGelu));
  const onnx::Node* last = model.graph->last;
  EXPECT_EQ(last->op_type, "FastGelu");
  EXPECT_EQ(last->inputs, (std::vector<onnx::ValueInfo*>{x.info(), bias.info()}));
}

TEST_F(BiasGelu, WhatIsReadElsewhereStays) {
  const Value sum = onnx.add(x, bias);
  outputs({onnx.gelu(sum), sum});
  EXPECT_FALSE(run(kBiasGelu));
  EXPECT_EQ(reason(), "the sum is read elsewhere, too");
}

TEST_F(BiasGelu, ASumOfTwoOfOneShapeStays) {
  outputs({onnx.gelu(onnx.add(x, input("z", {b, s, 4}, kFloat32)))});
  EXPECT_FALSE(run(kBiasGelu));
}

TEST_F(BiasGelu, OnlyFloat32HasAKernel) {
  outputs({onnx.gelu(onnx.add(input("h", {b, 4}, kFloat16), input("c", {4}, kFloat16)))});
  EXPECT_FALSE(run(kBiasGelu));
  EXPECT_EQ(reason(), "there is a kernel for float32 alone");
}

}  // namespace
}  // namespace sardonyx::targets
