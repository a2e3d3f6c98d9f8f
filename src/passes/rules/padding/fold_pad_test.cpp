#include "passes/rules/padding/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Value;

TEST_F(RulesTest, ZerosAroundAConvolutionAreItsPads) {
  const Value x = input("x", {b, 1, 4});
  const Value wide = onnx.pad(x, onnx.ints({0, 0, 1, 0, 0, 2}));
  outputs({onnx.conv(wide, weight("w", {1, 1, 1}, {1}), Value(), {.pads = {3, 3}})});
  EXPECT_TRUE(run(kFoldPad));
  EXPECT_EQ(ops(), "Conv");
  EXPECT_EQ(*model.graph->first->ints("pads"), (std::vector<std::int64_t>{4, 5}));
}

TEST_F(RulesTest, OtherPadsStay) {
  const Value x = input("x", {b, 1, 4});
  const Value w = weight("w", {1, 2, 1}, {1, 1}), v = weight("v", {1, 1, 1}, {1});
  const Value channels = onnx.pad(x, onnx.ints({0, 1, 0, 0, 0, 0}));
  const Value ones = onnx.pad(x, onnx.ints({0, 0, 1, 0, 0, 1}), onnx.scalar(1, DType::kFloat32));
  const Value cut = onnx.pad(x, onnx.ints({0, 0, -1, 0, 0, 0}));
  outputs(
      {onnx.conv(channels, w, Value()), onnx.conv(ones, v, Value()), onnx.conv(cut, v, Value())});
  EXPECT_FALSE(run(kFoldPad));
}

}  // namespace
}  // namespace sardonyx::passes
