#include <limits>

#include "rewriting/test_graph.h"
#include "targets/onnxruntime/fusions/fusions.h"

namespace sardonyx::targets {
namespace {

using enum base::DType;
using onnx::Value;

class FusedConv : public rewriting::RulesTest {
 protected:
  Value x = input("x", {b, 1, s}, kFloat32);
  Value w = weight("w", {1, 1, 3}, {1, 2, 3});
  Value y = onnx.conv(x, w, Value(), {.pads = {1, 1}});

  std::string activation() const {
    EXPECT_EQ(model.graph->first, model.graph->last);
    EXPECT_EQ(model.graph->first->op_type, "FusedConv");
    EXPECT_EQ(*model.graph->first->ints("pads"), (std::vector<std::int64_t>{1, 1}));
    return model.graph->first->string_or("activation", "");
  }
  std::vector<float> parameters() const {
    const onnx::Attribute* found = model.graph->first->find("activation_params");
    return found == nullptr ? std::vector<float>{} : std::get<std::vector<float>>(found->data);
  }
};

TEST_F(FusedConv, AnActivation) {
  outputs({onnx.relu(y)});
  EXPECT_TRUE(run(kFusedConv));
  EXPECT_EQ(activation(), "Relu");
  EXPECT_EQ(parameters(), std::vector<float>{});
  EXPECT_EQ(type(model.graph->first->output()), "float32[b, 1, s]");
}

TEST_F(FusedConv, NumbersOfAnActivation) {
  outputs({onnx.clip(y, Value(), onnx.scalar(6, kFloat32))});
  EXPECT_TRUE(run(kFusedConv));
  EXPECT_EQ(activation(), "Clip");
  EXPECT_EQ(parameters(), (std::vector<float>{std::numeric_limits<float>::lowest(), 6}));
}

TEST_F(FusedConv, ASumBetweenStays) {
  outputs({onnx.relu(onnx.add(x, y))});
  EXPECT_FALSE(run(kFusedConv));
}

TEST_F(FusedConv, WhatIsReadElsewhereStays) {
  outputs({onnx.relu(y), y});
  EXPECT_FALSE(run(kFusedConv));
  EXPECT_EQ(reason(), "the convolution is read elsewhere, too");
}

TEST_F(FusedConv, ABoundThatIsFedStays) {
  outputs({onnx.clip(y, input("low", {}, kFloat32))});
  EXPECT_FALSE(run(kFusedConv));
  EXPECT_EQ(reason(), "a bound is not known");
}

}  // namespace
}  // namespace sardonyx::targets
