#include "passes/rules/dense/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;

const Options kTuned{
    .stop_after = {}, .limits = {}, .tuning = {.min_gemm_rows = 49, .max_gemm_row_length = 384}};

struct FlattenDenseLayers : RulesTest {
  Value x = input("x", {b, 64, 2}), residual = input("r", {b, 64, 2});
  int count = 0;

  Value dense(Value of) {
    const std::string name = std::to_string(count++);
    return onnx.add(onnx.matmul(of, weight("w" + name, {2, 2}, {1, 2, 3, 4})),
                    weight("b" + name, {2}, {1, 2}));
  }
};

TEST_F(FlattenDenseLayers, AreProductsOfRows) {
  outputs({dense(onnx.gelu(dense(x)))});
  const std::string name = model.graph->outputs[0]->name;
  EXPECT_TRUE(run(kFlattenDenseLayers, kTuned)) << reason();
  EXPECT_EQ(ops(), "Reshape Gemm Gelu Gemm Reshape");
  EXPECT_EQ(model.graph->outputs[0]->name, name);
  EXPECT_EQ(type(model.graph->outputs[0]), "float32[b, 64, 2]");
}

TEST_F(FlattenDenseLayers, WhatElseIsAddedIsAddedBehind) {
  const Value product = onnx.matmul(onnx.relu(dense(x)), weight("w", {2, 2}, {1, 2, 3, 4}));
  outputs({onnx.sum({residual, weight("b", {2}, {1, 2}), product})});
  EXPECT_TRUE(run(kFlattenDenseLayers, kTuned)) << reason();
  EXPECT_EQ(ops(), "Reshape Gemm Relu Gemm Reshape Add");
  EXPECT_EQ(model.graph->outputs[0]->producer->input(1), residual.info());
}

TEST_F(FlattenDenseLayers, StayForTargetsWithoutTheTuning) {
  outputs({dense(onnx.gelu(dense(x)))});
  EXPECT_FALSE(run(kFlattenDenseLayers));
}

TEST_F(FlattenDenseLayers, FewOrUnknownRowsStay) {
  outputs({dense(onnx.gelu(dense(input("few", {b, 8, 2})))),
           dense(onnx.gelu(dense(input("open", {b, s, 2}))))});
  EXPECT_FALSE(run(kFlattenDenseLayers, kTuned));
}

TEST_F(FlattenDenseLayers, WhatIsReadBetweenStays) {
  const Value between = dense(x);
  outputs({dense(onnx.gelu(between)), onnx.neg(between)});
  EXPECT_FALSE(run(kFlattenDenseLayers, kTuned));
}

}  // namespace
}  // namespace sardonyx::passes
