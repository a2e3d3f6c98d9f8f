#include "passes/rules/padding/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Value;

using MergePads = RulesTest;

TEST_F(MergePads, WidthsAddUp) {
  const Value x = input("x", {b, 4});
  const Value once = onnx.pad(x, onnx.ints({0, 1, 0, 2}));
  outputs({onnx.pad(once, onnx.ints({3, 4}), onnx.scalar(0, DType::kFloat32), onnx.ints({-1}))});
  EXPECT_TRUE(run(kMergePads));
  EXPECT_EQ(ops(), "Pad");
  const Value widths = model.graph->first->input(1);
  EXPECT_EQ(widths.ints(), (std::vector<std::int64_t>{0, 4, 0, 6}));
  EXPECT_EQ(type(model.graph->first->output()), "float32[b, 14]");
}

TEST_F(MergePads, EdgesAreEdges) {
  const Value once =
      onnx.pad(input("x", {b, 4}), onnx.ints({0, 1, 0, 2}), {}, {}, {.mode = "edge"});
  outputs({onnx.pad(once, onnx.ints({0, 1, 0, 1}), {}, {}, {.mode = "edge"})});
  EXPECT_TRUE(run(kMergePads));
  EXPECT_EQ(ops(), "Pad");
  EXPECT_EQ(model.graph->first->string_or("mode", ""), "edge");
}

TEST_F(MergePads, ReflectionsStay) {
  const Value once =
      onnx.pad(input("x", {b, 4}), onnx.ints({0, 1, 0, 2}), {}, {}, {.mode = "reflect"});
  outputs({onnx.pad(once, onnx.ints({0, 1, 0, 1}), {}, {}, {.mode = "reflect"})});
  EXPECT_FALSE(run(kMergePads));
  EXPECT_EQ(reason(), "the two do not fill with the same");
}

TEST_F(MergePads, OtherNumbersStay) {
  const Value once = onnx.pad(input("x", {b, 4}), onnx.ints({0, 1, 0, 2}));
  outputs({onnx.pad(once, onnx.ints({0, 1, 0, 1}), onnx.scalar(1, DType::kFloat32))});
  EXPECT_FALSE(run(kMergePads));
}

TEST_F(MergePads, WhatIsCutStays) {
  const Value once = onnx.pad(input("x", {b, 4}), onnx.ints({0, -1, 0, 2}));
  outputs({onnx.pad(once, onnx.ints({0, 1, 0, 1}))});
  EXPECT_FALSE(run(kMergePads));
  EXPECT_EQ(reason(), "an axis is cut");
}

TEST_F(MergePads, WhatIsReadBetweenStays) {
  const Value once = onnx.pad(input("x", {b, 4}), onnx.ints({0, 1, 0, 2}));
  outputs({onnx.pad(once, onnx.ints({0, 1, 0, 1})), onnx.neg(once)});
  EXPECT_FALSE(run(kMergePads));
}

}  // namespace
}  // namespace sardonyx::passes
