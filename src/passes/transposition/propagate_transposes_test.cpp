#include "passes/passes.h"
#include "passes/rules/reshape/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;

struct PropagateTransposes : RulesTest {
  Value x = onnx.exp(input("x", {b, 3, s, s}));
  const std::vector<std::int64_t> last{0, 2, 3, 1}, first{0, 3, 1, 2};

  Value channels_last(Value each) { return onnx.transpose(each, last); }
  Value channels_first(Value each) { return onnx.transpose(each, first); }

  // The pass, and what its transpositions become.
  std::int64_t moved() {
    report = {};
    RuleContext context(model, {}, report);
    const std::int64_t count = propagate_transposes(context);
    onnx::verify(model);
    run(kMergeTransposes);
    run(kReduceBeforeTranspose);
    run(drop_unused_nodes);
    return count;
  }
};

TEST_F(PropagateTransposes, WhatStandsBetweenTwoThatUndoEachOther) {
  const Value y = onnx.add(channels_last(x), weight("w", {3}, {1, 2, 3}));
  outputs({onnx.neg(channels_first(onnx.relu(y)))});
  EXPECT_EQ(moved(), 2);
  EXPECT_EQ(ops(), "Exp Add Relu Neg");
  const onnx::Node* sum = model.graph->first->next;
  EXPECT_EQ(type(sum->input(1)), "float32[1, 3, 1, 1]");
  EXPECT_EQ(reals(sum->input(1)), (std::vector<double>{1, 2, 3}));
}

TEST_F(PropagateTransposes, AxesOfAllKinds) {
  Value y = onnx.pad(channels_last(x), onnx.ints({0, 1, 2, 0, 0, 3, 4, 0}));
  y = onnx.concat({y, onnx.softmax(y)}, 3);
  y = onnx.slice(y, onnx.ints({1}), onnx.ints({4}), onnx.ints({-1}));
  y = onnx.reduce_max(y, onnx.ints({1}));
  outputs({onnx.neg(channels_first(y))});
  EXPECT_EQ(moved(), 5);
  EXPECT_EQ(ops(), "Exp Pad Softmax Concat Slice ReduceMax Neg");
  const onnx::Node* node = model.graph->first->next;
  EXPECT_EQ(node->input(1)->constant->ints().value(),
            (std::vector<std::int64_t>{0, 0, 1, 2, 0, 0, 3, 4}));
  EXPECT_EQ(node->next->int_or("axis", -1), 1);
  EXPECT_EQ(node->next->next->int_or("axis", -1), 1);
  EXPECT_EQ(type(model.graph->last->output()), "float32[b, 3, 1, s + 6]");
}

TEST_F(PropagateTransposes, RowsAreMultipliedAndNormalizedInAnyOrder) {
  const Value w = weight("w", {3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}),
              one = weight("o", {3}, {1, 2, 3});
  const Value rows = onnx.transpose(onnx.exp(input("rows", {s, b, 3})), {1, 0, 2});
  const Value y = onnx.layer_normalization(onnx.add(onnx.matmul(rows, w), one), one, one);
  const auto parts = onnx.split(2, y, onnx.ints({1, 2}), {.axis = 2});
  outputs({onnx.neg(onnx.transpose(parts[0], {1, 0, 2})),
           onnx.abs(onnx.transpose(parts[1], {1, 0, 2}))});
  EXPECT_EQ(moved(), 4);
  EXPECT_EQ(ops(), "Exp MatMul Add LayerNormalization Split Neg Abs");
}

TEST_F(PropagateTransposes, ProductsThatMixTheAxesThatMoveStay) {
  const Value w = weight("w", {3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  const Value rows = onnx.transpose(onnx.exp(input("rows", {3, b, s})), {2, 1, 0});
  outputs({onnx.neg(onnx.transpose(onnx.matmul(rows, w), {2, 1, 0}))});
  EXPECT_EQ(moved(), 0);
}

TEST_F(PropagateTransposes, WhereAxesGoNothingIsLeft) {
  const Value y = onnx.relu(channels_last(x));
  outputs({onnx.neg(onnx.reduce_mean(y, onnx.ints({1, 2}), {.keepdims = 0}))});
  EXPECT_EQ(moved(), 1);
  EXPECT_EQ(ops(), "Exp Relu ReduceMean Neg");
  EXPECT_EQ(model.graph->last->previous->input(1)->constant->ints().value(),
            (std::vector<std::int64_t>{2, 3}));
}

TEST_F(PropagateTransposes, WhatWouldBeTransposedElsewhereStays) {
  outputs({onnx.neg(onnx.reshape(onnx.relu(channels_last(x)), {b, s * s * 3}))});
  EXPECT_EQ(moved(), 0);
}

TEST_F(PropagateTransposes, ABranchThatNeedsItKeepsOne) {
  // Two go, one comes behind the Relu for the Reshape.
  const Value y = onnx.relu(onnx.add(channels_last(x), channels_last(onnx.neg(x))));
  outputs({onnx.neg(channels_first(y)), onnx.neg(onnx.reshape(y, {b, s * s * 3}))});
  EXPECT_EQ(moved(), 2);
  const std::string left = ops();
  EXPECT_EQ(left.find("Transpose"), left.rfind("Transpose"));
}

TEST_F(PropagateTransposes, OperandsInTwoOrdersStay) {
  const Value other = onnx.transpose(x, {0, 3, 2, 1});
  outputs({onnx.neg(channels_first(onnx.add(channels_last(x), other)))});
  EXPECT_EQ(moved(), 0);
}

}  // namespace
}  // namespace sardonyx::passes
