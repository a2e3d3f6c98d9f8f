#include "rewriting/test_graph.h"
#include "targets/onnxruntime/fusions/fusions.h"

namespace sardonyx::targets {
namespace {

using onnx::Value;

class MultiHeadAttention : public rewriting::RulesTest {
 protected:
  void attend(Value x, Value mask = {}) {
    outputs({onnx.attention(x, x, x, mask, {}, {}, {}, {.kv_num_heads = 2, .q_num_heads = 2})});
  }
};

TEST_F(MultiHeadAttention, RowsThatSeeNothingGiveZero) {
  attend(input("x", {b, 512, 8}), input("mask", {b, 1, 512, 512}, base::DType::kBool));
  ASSERT_TRUE(run(kMultiHeadAttention));
  EXPECT_EQ(ops(), "Where MultiHeadAttention Cast ReduceMax Squeeze Mul");
  EXPECT_EQ(type(model.graph->last->output()), "float32[b, 512, 8]");
}

TEST_F(MultiHeadAttention, WithoutAMaskItTakesManyBatches) {
  attend(input("x", {1, 512, 8}));
  EXPECT_FALSE(run(kMultiHeadAttention));
}

TEST_F(MultiHeadAttention, ManyBatchesOfManyQueries) {
  attend(input("x", {8, 512, 8}));
  ASSERT_TRUE(run(kMultiHeadAttention));
  EXPECT_EQ(ops(), "MultiHeadAttention");
}

TEST_F(MultiHeadAttention, FewQueriesStay) {
  attend(input("x", {8, s, 8}));
  EXPECT_FALSE(run(kMultiHeadAttention));
}

}  // namespace
}  // namespace sardonyx::targets
