#include "rewriting/test_graph.h"
#include "targets/onnxruntime/fusions/fusions.h"

namespace sardonyx::targets {
namespace {

using onnx::Value;

class PackedProjections : public rewriting::RulesTest {
 protected:
  Value projected(Value x, const std::string& name, std::int64_t width) {
    const std::vector<float> ones(static_cast<std::size_t>(2 * width), 1);
    return onnx.matmul(x, weight(name, {2, width}, ones));
  }
  void attend(Value q, Value k, Value v) {
    outputs({onnx.attention(q, k, v, {}, {}, {}, {}, {.kv_num_heads = 1, .q_num_heads = 2})});
  }
};

TEST_F(PackedProjections, ProductsOfOneFactorAreOne) {
  const Value x = input("x", {b, s, 2}), angles = input("angles", {b, s, 2});
  const auto biased = [&](Value y, const std::string& name, std::int64_t width) {
    return onnx.add(y,
                    weight(name, {width}, std::vector<float>(static_cast<std::size_t>(width), 2)));
  };
  const Value q = biased(projected(x, "wq", 8), "bq", 8);
  const Value turned = onnx.rotary_embedding(q, angles, angles, {}, {.num_heads = 2});
  attend(turned, biased(projected(x, "wk", 4), "bk", 4), biased(projected(x, "wv", 4), "bv", 4));
  ASSERT_TRUE(run(kPackedProjections));
  EXPECT_EQ(ops(), "MatMul Add Split RotaryEmbedding Attention");
  const onnx::Node* split = model.graph->first->next->next;
  EXPECT_EQ(type(split->input(0)), "float32[b, s, 16]");
  EXPECT_EQ(type(split->output(0)), "float32[b, s, 8]");
  EXPECT_EQ(type(split->output(2)), "float32[b, s, 4]");
}

TEST_F(PackedProjections, ManyRowsStayApart) {
  const Value x = input("x", {8, 512, 2});
  attend(projected(x, "wq", 8), projected(x, "wk", 4), projected(x, "wv", 4));
  EXPECT_FALSE(run(kPackedProjections));
  EXPECT_EQ(reason(), "three products of this many rows are quicker than one");
}

TEST_F(PackedProjections, OtherFactorsStayApart) {
  const Value x = input("x", {b, s, 2}), y = input("y", {b, s, 2});
  attend(projected(x, "wq", 8), projected(y, "wk", 4), projected(y, "wv", 4));
  EXPECT_FALSE(run(kPackedProjections));
}

}  // namespace
}  // namespace sardonyx::targets
