#include "passes/rules/reshape/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;
using symbolic::Expr;

using MergeReshapes = RulesTest;

TEST_F(MergeReshapes, TheLastDecides) {
  const Value x = input("x", {b, 6, s});
  const Value between = onnx.reshape(onnx.exp(x), {b, 2, 3, s});
  // By hand: the emitter would not make two in a row.
  outputs({onnx.reshape(between, onnx.ints({0, 3, 2, -1}))});
  EXPECT_FALSE(run(kMergeReshapes)) << "two sizes that are open, one of which may be 0";
  EXPECT_EQ(ops(), "Exp Reshape Reshape");
}

TEST_F(MergeReshapes, SizesInPlaceAreCopied) {
  const Value between = onnx.unsqueeze(onnx.exp(input("x", {b, s, 6})), {2});
  outputs({onnx.reshape(between, onnx.ints({0, 0, 2, 3}))});
  EXPECT_TRUE(run(kMergeReshapes));
  EXPECT_EQ(ops(), "Exp Reshape");
  EXPECT_EQ(type(model.graph->last->output()), "float32[b, s, 2, 3]");
  const Value target = model.graph->last->input(1);
  EXPECT_EQ(target.ints(), (std::vector<std::int64_t>{0, 0, 2, 3}));
}

TEST_F(MergeReshapes, AxesOfOneAreAdded) {
  const Value between = onnx.reshape(onnx.exp(input("x", {b, s})), {b, s, 1, 1});
  const Value y = onnx.reshape(between, onnx.concat({onnx.ints({-1, 1}), onnx.sizes({s})}, 0));
  onnx.set_type(y, y.dtype(), {b, 1, s});
  outputs({onnx.neg(y)});
  EXPECT_TRUE(run(kMergeReshapes));
  EXPECT_EQ(ops(), "Exp Unsqueeze Neg");
}

TEST_F(MergeReshapes, WhatGivesTheShapeBackGoes) {
  const Value x = onnx.exp(input("x", {b, 6}));
  const Value between = onnx.unsqueeze(x, {0});
  const Value back = onnx.reshape(between, onnx.ints({-1, 6}));
  onnx.set_type(back, x.dtype(), {b, 6});
  outputs({onnx.neg(back), onnx.exp(between)});
  EXPECT_TRUE(run(kMergeReshapes));
  EXPECT_EQ(ops(), "Exp Unsqueeze Neg Exp");
}

TEST_F(MergeReshapes, AShapeThatIsReadStays) {
  const Value between = onnx.unsqueeze(onnx.exp(input("x", {2, 6})), {2});
  outputs({onnx.reshape(between, onnx.ints({3, 4})), onnx.exp(between)});
  EXPECT_FALSE(run(kMergeReshapes));
  EXPECT_EQ(reason(), "something else reads the shape between");
}

TEST_F(MergeReshapes, ViewsOfViews) {
  outputs({onnx.neg(onnx.unsqueeze(onnx.flatten(input("x", {b, 2, 3})), {2}))});
  EXPECT_TRUE(run(kMergeViews));
  EXPECT_EQ(ops(), "Reshape Neg");
}

TEST_F(MergeReshapes, RowsThatAreFlat) {
  outputs({onnx.neg(onnx.flatten(onnx.exp(input("x", {b, 6}))))});
  EXPECT_TRUE(run(kMergeViews));
  EXPECT_EQ(ops(), "Exp Neg");
}

}  // namespace
}  // namespace sardonyx::passes
