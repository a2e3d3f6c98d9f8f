#include "passes/rules/normalization/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Value;

class NormalizeInHalf : public RulesTest {
 protected:
  Value x = input("x", {b, s, 4}, DType::kFloat16);
  Value ones = onnx.constant(onnx::Tensor::filled(onnx::DType::kFloat32, {4}, 1));
  Value scale = weight("scale", {4}, {1, 2, 3, 4});
};

TEST_F(NormalizeInHalf, OfHalfPrecision) {
  const Value wide = onnx.cast(x, DType::kFloat32);
  outputs({onnx.cast(onnx.rms_normalization(wide, ones), DType::kFloat16)});
  EXPECT_TRUE(run(kNormalizeInHalf));
  EXPECT_EQ(ops(), "RMSNormalization");
  EXPECT_EQ(model.graph->first->input(1)->dtype, DType::kFloat16);
}

TEST_F(NormalizeInHalf, WhatIsScaledInFloat32Stays) {
  const Value wide = onnx.cast(x, DType::kFloat32);
  outputs({onnx.cast(onnx.rms_normalization(wide, scale), DType::kFloat16)});
  EXPECT_FALSE(run(kNormalizeInHalf));
}

TEST_F(NormalizeInHalf, DeclinesAnotherType) {
  const Value wide = onnx.cast(x, DType::kFloat32);
  outputs({onnx.cast(onnx.rms_normalization(wide, ones), DType::kBFloat16)});
  EXPECT_FALSE(run(kNormalizeInHalf));
  EXPECT_EQ(reason(), "x is not of the half type that comes back from float32");
}

}  // namespace
}  // namespace sardonyx::passes
