#include "rewriting/test_graph.h"
#include "targets/onnxruntime/fusions/fusions.h"

namespace sardonyx::targets {
namespace {

using enum base::DType;
using onnx::Value;

class BiasSplitGelu : public rewriting::RulesTest {
 protected:
  Value gated(std::int64_t width, std::int64_t gate) {
    const Value x = input("x", {b, s, width}, kFloat32), bias = input("bias", {width}, kFloat32);
    const onnx::Values parts = onnx.split(2, onnx.add(x, bias), {}, {.axis = -1, .num_outputs = 2});
    const auto other = static_cast<std::size_t>(1 - gate);
    return onnx.mul(parts[other], onnx.gelu(parts[static_cast<std::size_t>(gate)]));
  }
};

TEST_F(BiasSplitGelu, HalvesWithABiasAreOneOperator) {
  const Value y = gated(2560, 1);
  outputs({y});
  EXPECT_TRUE(run(kBiasSplitGelu));
  EXPECT_EQ(ops(), "BiasSplitGelu");
  EXPECT_EQ(model.graph->last->output()->shape.back(), onnx::Expr(1280));
}

TEST_F(BiasSplitGelu, TheGateIsTheSecondHalf) {
  outputs({gated(2560, 0)});
  EXPECT_FALSE(run(kBiasSplitGelu));
}

TEST_F(BiasSplitGelu, TheKernelIsForAFewWidths) {
  outputs({gated(1024, 1)});
  EXPECT_FALSE(run(kBiasSplitGelu));
  EXPECT_EQ(reason(), "the kernel takes 2560, 5120 or 10240 numbers in a row");
}

}  // namespace
}  // namespace sardonyx::targets
