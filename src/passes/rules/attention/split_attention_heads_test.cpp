#include "passes/rules/attention/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;

// Two heads of 4, counted as batches.
class SplitAttentionHeads : public RulesTest {
 protected:
  symbolic::Expr t = pool->symbol("t");
  Value q = input("q", {s, b, 8}), k = input("k", {t, b, 8}), v = input("v", {t, b, 8});

  static Value as_batches(onnx::Emit& onnx, Value x) {
    return onnx.transpose(onnx.reshape(x, {x.dim(0), x.dim(1) * symbolic::Expr(2), 4}), {1, 0, 2});
  }
  Value attended(Value mask = {}) {
    return onnx.attention(as_batches(onnx, q), as_batches(onnx, k), as_batches(onnx, v), mask, {},
                          {}, {}, {.kv_num_heads = 1, .q_num_heads = 1});
  }
  void rows_of(Value y) {
    outputs({onnx.reshape(onnx.transpose(y, {1, 0, 2}), {s * b, symbolic::Expr(8)})});
  }
};

TEST_F(SplitAttentionHeads, BatchesAreHeadsAgain) {
  rows_of(attended());
  ASSERT_TRUE(run(kSplitAttentionHeads)) << reason();
  EXPECT_EQ(ops(),
            "Reshape Transpose Reshape Transpose Reshape Transpose Attention Transpose Reshape");
  const onnx::Node* attention = model.graph->last->previous->previous;
  EXPECT_EQ(type(attention->output()), "float32[b, 2, s, 4]");
  EXPECT_EQ(attention->int_or("q_num_heads", 0), 0);
  EXPECT_TRUE(run(kMergeAttentionHeads)) << reason();
  EXPECT_EQ(ops(), "Transpose Transpose Transpose Attention Transpose Reshape");
}

TEST_F(SplitAttentionHeads, OneMaskForAllIsKept) {
  rows_of(attended(input("mask", {s, t})));
  EXPECT_TRUE(run(kSplitAttentionHeads)) << reason();
}

TEST_F(SplitAttentionHeads, AMaskForEachHeadStays) {
  rows_of(attended(input("mask", {b * symbolic::Expr(2), 1, s, t})));
  EXPECT_FALSE(run(kSplitAttentionHeads));
  EXPECT_EQ(reason(), "its mask is another one for each head");
}

TEST_F(SplitAttentionHeads, BatchesThatAreReadStay) {
  outputs({attended()});
  EXPECT_FALSE(run(kSplitAttentionHeads));
  EXPECT_EQ(reason(), "its result is read with the batches first");
}

TEST_F(SplitAttentionHeads, OtherBatchesStay) {
  v = input("w", {t, symbolic::Expr(2) * b, 4});
  const Value heads = onnx.transpose(v, {1, 0, 2});
  rows_of(onnx.attention(as_batches(onnx, q), as_batches(onnx, k), heads, {}, {}, {}, {},
                         {.kv_num_heads = 1, .q_num_heads = 1}));
  EXPECT_FALSE(run(kSplitAttentionHeads));
}

}  // namespace
}  // namespace sardonyx::passes
