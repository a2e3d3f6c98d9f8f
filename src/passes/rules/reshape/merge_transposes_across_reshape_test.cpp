#include "passes/passes.h"
#include "passes/rules/reshape/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;
using symbolic::Expr;

struct MergeTransposesAcrossReshape : RulesTest {
  Value x = onnx.exp(input("x", {s, b, 12}));
  Value heads = onnx.exp(input("heads", {b, 3, s, 4}));
};

TEST_F(MergeTransposesAcrossReshape, AxesThatArePartedBetween) {
  const Value apart = onnx.reshape(onnx.transpose(x, {1, 0, 2}), {b, s, 3, 4});
  outputs({onnx.neg(onnx.transpose(apart, {0, 2, 3, 1}))});
  ASSERT_TRUE(run(kMergeTransposesAcrossReshape)) << reason();
  run(drop_unused_nodes);
  EXPECT_EQ(ops(), "Exp Reshape Transpose Neg");
  const onnx::Node* transpose = model.graph->last->previous;
  EXPECT_EQ(*transpose->ints("perm"), (std::vector<std::int64_t>{1, 2, 3, 0}));
  EXPECT_EQ(type(transpose->input(0)), "float32[s, b, 3, 4]");
  EXPECT_EQ(type(transpose->output()), "float32[b, 3, 4, s]");
}

TEST_F(MergeTransposesAcrossReshape, AxesThatAreJoinedBetween) {
  const Value together = onnx.reshape(onnx.transpose(heads, {0, 2, 1, 3}), {b, s, 12});
  outputs({onnx.neg(onnx.transpose(together, {1, 0, 2}))});
  ASSERT_TRUE(run(kMergeTransposesAcrossReshape)) << reason();
  EXPECT_EQ(ops(), "Exp Exp Transpose Reshape Neg");
  const onnx::Node* reshape = model.graph->last->previous;
  EXPECT_EQ(*reshape->previous->ints("perm"), (std::vector<std::int64_t>{2, 0, 1, 3}));
  EXPECT_EQ(type(reshape->output()), "float32[s, b, 12]");
}

TEST_F(MergeTransposesAcrossReshape, OtherAxesAreJoinedThanWereParted) {
  const Value other = onnx.reshape(onnx.transpose(x, {1, 0, 2}), {b, s * Expr(3), 4});
  outputs({onnx.neg(onnx.transpose(other, {1, 0, 2}))});
  EXPECT_FALSE(run(kMergeTransposesAcrossReshape));
}

TEST_F(MergeTransposesAcrossReshape, WhatElseReadsIsKept) {
  const Value apart = onnx.reshape(onnx.transpose(x, {1, 0, 2}), {b, s, 3, 4});
  outputs({onnx.neg(onnx.transpose(apart, {0, 2, 3, 1})), onnx.neg(apart)});
  EXPECT_FALSE(run(kMergeTransposesAcrossReshape));
  EXPECT_EQ(reason(), "something else reads what is transposed again");
}

}  // namespace
}  // namespace sardonyx::passes
