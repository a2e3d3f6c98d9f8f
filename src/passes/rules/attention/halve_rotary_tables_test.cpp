#include "passes/rules/attention/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Value;

class HalveRotaryTables : public RulesTest {
 protected:
  Value angles = input("angles", {b, s, 4});
  Value twice = onnx.concat({angles, angles}, -1);
};

TEST_F(HalveRotaryTables, OneHalfIsComputed) {
  const Value scaled = onnx.mul(onnx.cos(twice), onnx.scalar(0.5, DType::kFloat32));
  outputs({onnx.unsqueeze(onnx.cast(scaled, DType::kFloat16), {1})});
  EXPECT_TRUE(run(kHalveRotaryTables));
  EXPECT_EQ(ops(), "Cos Mul Cast Unsqueeze Concat");
}

TEST_F(HalveRotaryTables, FactorsOfOneHalfStay) {
  outputs({onnx.mul(twice, input("factors", {8})), onnx.unsqueeze(twice, {3})});
  EXPECT_FALSE(run(kHalveRotaryTables));
}

TEST_F(HalveRotaryTables, OtherAxesAndPartsStay) {
  const Value beside = onnx.concat({angles, angles}, 1);
  const Value unlike = onnx.concat({angles, input("others", {b, s, 4})}, -1);
  outputs({onnx.cos(beside), onnx.sin(unlike)});
  EXPECT_FALSE(run(kHalveRotaryTables));
}

}  // namespace
}  // namespace sardonyx::passes
