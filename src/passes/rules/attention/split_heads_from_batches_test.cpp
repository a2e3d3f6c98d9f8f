#include "passes/rules/attention/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;
using symbolic::Expr;

class SplitHeadsFromBatches : public RulesTest {
 protected:
  Value counted(Value x) { return onnx.reshape(x, {x.dim(0) * x.dim(1), x.dim(2), x.dim(3)}); }
  Value attended(Value key, Value mask = {}) {
    return onnx.attention(counted(q), counted(key), counted(v), mask, {}, {}, {},
                          {.kv_num_heads = 1, .q_num_heads = 1});
  }
  Value q = input("q", {b, 6, s, 8}), k = input("k", {b, 6, s, 8}), v = input("v", {b, 6, s, 4});
  onnx::Shape apart = {b, 6, s, 4};
};

TEST_F(SplitHeadsFromBatches, HeadsAreHeadsAgain) {
  outputs({onnx.reshape(attended(k), apart)});
  EXPECT_TRUE(run(kSplitHeadsFromBatches)) << reason();
  EXPECT_EQ(ops(), "Attention");
  EXPECT_EQ(model.graph->first->input(1), k.info());
  EXPECT_EQ(model.graph->first->find("q_num_heads"), nullptr);
}

TEST_F(SplitHeadsFromBatches, AMaskForAll) {
  outputs({onnx.reshape(attended(k, input("mask", {s, s})), apart)});
  EXPECT_TRUE(run(kSplitHeadsFromBatches)) << reason();
  EXPECT_EQ(model.graph->first->input(3)->name, "mask");
}

TEST_F(SplitHeadsFromBatches, AMaskForEachStays) {
  outputs({onnx.reshape(attended(k, input("mask", {b * Expr(6), 1, s, s})), apart)});
  EXPECT_FALSE(run(kSplitHeadsFromBatches));
  EXPECT_EQ(reason(), "its mask is another one for each head");
}

TEST_F(SplitHeadsFromBatches, KeysOfOtherHeadsStay) {
  outputs({onnx.reshape(attended(input("others", {b * Expr(2), 3, s, 8})), apart)});
  EXPECT_FALSE(run(kSplitHeadsFromBatches));
  EXPECT_EQ(reason(), "queries, keys and values are not of as many heads");
}

TEST_F(SplitHeadsFromBatches, AResultThatIsPartedOtherwiseStays) {
  outputs({onnx.reshape(attended(k), {b, 3, s * Expr(2), 4})});
  EXPECT_FALSE(run(kSplitHeadsFromBatches));
  EXPECT_EQ(reason(), "its result is read with the heads as batches");
}

}  // namespace
}  // namespace sardonyx::passes
