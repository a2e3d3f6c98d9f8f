#include "passes/rules/indexing/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;

struct ScatterIntoShape : RulesTest {
  const Value places = onnx.ints({5, -1, 0});
  const Value table = onnx.scatter_elements(onnx.constant_of_shape(onnx.ints({6000})), places,
                                            onnx.constant(weight_of({1, 2, 3})));

  static onnx::Tensor weight_of(const std::vector<float>& values) {
    return onnx::Tensor::of_bytes(onnx::DType::kFloat32, {static_cast<std::int64_t>(values.size())},
                                  std::as_bytes(std::span(values)));
  }
};

TEST_F(ScatterIntoShape, ATableIsWrittenInItsShape) {
  outputs({onnx.neg(onnx.reshape(table, {1200, 5}))});
  EXPECT_TRUE(run(kScatterIntoShape));
  EXPECT_EQ(ops(), "ConstantOfShape ScatterND Neg");
  const onnx::Node* scatter = model.graph->first->next;
  EXPECT_EQ(type(scatter->output()), "float32[1200, 5]");
  EXPECT_EQ(scatter->input(1)->constant->ints(), (std::vector<std::int64_t>{1, 0, 1199, 4, 0, 0}));
}

TEST_F(ScatterIntoShape, WhatIsReadInBothShapesStays) {
  outputs({onnx.neg(onnx.reshape(table, {1200, 5})), onnx.neg(table)});
  EXPECT_FALSE(run(kScatterIntoShape));
  EXPECT_EQ(reason(), "the table is read in its other shape, too");
}

TEST_F(ScatterIntoShape, AShapeThatIsComputedStays) {
  const Value shape = input("shape", {2}, onnx::DType::kInt64);
  outputs({onnx.neg(onnx.reshape(table, shape))});
  EXPECT_FALSE(run(kScatterIntoShape));
}

}  // namespace
}  // namespace sardonyx::passes
