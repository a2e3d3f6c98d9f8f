#include "rewriting/test_graph.h"
#include "targets/onnxruntime/fusions/fusions.h"

namespace sardonyx::targets {
namespace {

using enum base::DType;
using onnx::Value;

class QuickGelu : public rewriting::RulesTest {
 protected:
  Value x = input("x", {b, 4}, kFloat32);

  float alpha() const {
    EXPECT_EQ(model.graph->first, model.graph->last);
    EXPECT_EQ(model.graph->first->op_type, "QuickGelu");
    return model.graph->first->float_or("alpha", 0);
  }
};

TEST_F(QuickGelu, SiluIsOne) {
  outputs({onnx.mul(x, onnx.sigmoid(x))});
  EXPECT_TRUE(run(kQuickGelu));
  EXPECT_EQ(alpha(), 1.0F);
}

TEST_F(QuickGelu, AFactorIsAlpha) {
  outputs({onnx.mul(onnx.sigmoid(onnx.mul(onnx.scalar(1.702F, kFloat32), x)), x)});
  EXPECT_TRUE(run(kQuickGelu));
  EXPECT_EQ(alpha(), 1.702F);
}

TEST_F(QuickGelu, SwishIsOne) {
  outputs({onnx.swish(x, {.alpha = 2.0F})});
  EXPECT_TRUE(run(kQuickGelu));
  EXPECT_EQ(alpha(), 2.0F);
}

TEST_F(QuickGelu, SwigluIsOneAndAProduct) {
  outputs({onnx.swiglu(x, input("z", {b, 4}, kFloat32), {.alpha = 2.0F})});
  EXPECT_TRUE(run(kQuickGelu));
  EXPECT_EQ(ops(), "QuickGelu Mul");
  EXPECT_EQ(model.graph->first->float_or("alpha", 0), 2.0F);
}

TEST_F(QuickGelu, AGateOfSomethingElseStays) {
  outputs({onnx.mul(x, onnx.sigmoid(input("z", {b, 4}, kFloat32)))});
  EXPECT_FALSE(run(kQuickGelu));
}

TEST_F(QuickGelu, WhatIsReadElsewhereStays) {
  const Value gate = onnx.sigmoid(x);
  outputs({onnx.mul(x, gate), gate});
  EXPECT_FALSE(run(kQuickGelu));
  EXPECT_EQ(reason(), "the Sigmoid is read elsewhere, too");
}

TEST_F(QuickGelu, OnlyFloat32HasAKernel) {
  const Value h = input("h", {b, 4}, kFloat64);
  outputs({onnx.mul(h, onnx.sigmoid(h))});
  EXPECT_FALSE(run(kQuickGelu));
}

}  // namespace
}  // namespace sardonyx::targets
