#include "rewriting/test_graph.h"
#include "targets/onnxruntime/fusions/fusions.h"

namespace sardonyx::targets {
namespace {

using enum base::DType;
using onnx::Value;

class PackedAttention : public rewriting::RulesTest {
 protected:
  Value x = input("x", {b, s, 2}), mask = input("mask", {b, 1, s, s}, kBool);

  // x * [first, first + 1; first + 2, first + 3] + [first, first + 1].
  Value product(const std::string& name, float first) {
    const Value w = weight("w" + name, {2, 2}, {first, first + 1, first + 2, first + 3});
    return onnx.add(onnx.matmul(x, w), weight("b" + name, {2}, {first, first + 1}));
  }
  Value attention(Value seen, onnx::AttentionAttributes attributes = {}) {
    attributes.q_num_heads = attributes.kv_num_heads = 2;
    return onnx.attention(product("q", 0), product("k", 10), product("v", 20), seen, {}, {}, {},
                          attributes);
  }
};

TEST_F(PackedAttention, WeightsAreJoinedInTheirColumns) {
  outputs({attention({}, {.is_causal = 1, .scale = 0.5F})});
  ASSERT_TRUE(run(kPackedAttention));
  ASSERT_EQ(ops(), "Attention");
  const onnx::Node* made = model.graph->first;
  EXPECT_EQ(made->domain, "com.microsoft");
  EXPECT_EQ(reals(made->input(1)),
            (std::vector<double>{0, 1, 10, 11, 20, 21, 2, 3, 12, 13, 22, 23}));
  EXPECT_EQ(reals(made->input(2)), (std::vector<double>{0, 1, 10, 11, 20, 21}));
  EXPECT_EQ(made->int_or("num_heads", 0), 2);
  EXPECT_EQ(made->int_or("unidirectional", 0), 1);
  EXPECT_EQ(made->float_or("scale", 0), 0.5F);
  EXPECT_EQ(type(made->output()), "float32[b, s, 2]");
}

TEST_F(PackedAttention, RowsThatSeeNothingGiveNothing) {
  outputs({attention(mask)});
  ASSERT_TRUE(run(kPackedAttention));
  EXPECT_EQ(ops(), "Where Attention Cast ReduceMax Squeeze Mul");
}

TEST_F(PackedAttention, LayersShareWhatIsMadeOfTheMask) {
  const Value y = attention(mask);
  x = y;
  outputs({onnx.attention(product("q2", 0), product("k2", 1), product("v2", 2), mask, {}, {}, {},
                          {.kv_num_heads = 2, .q_num_heads = 2})});
  ASSERT_TRUE(run(kPackedAttention));
  EXPECT_EQ(ops(), "Where Attention Cast ReduceMax Squeeze Mul Attention Mul");
}

TEST_F(PackedAttention, OtherMasksStay) {
  outputs({attention(input("added", {b, 1, s, s}))});
  EXPECT_FALSE(run(kPackedAttention));
  EXPECT_TRUE(reason().starts_with("the mask is not one of truth values"));
}

TEST_F(PackedAttention, CappedScoresStay) {
  outputs({attention({}, {.softcap = 2.0F})});
  EXPECT_FALSE(run(kPackedAttention));
  EXPECT_EQ(reason(), "its scores are capped");
}

TEST_F(PackedAttention, WeightsThatOthersReadStay) {
  const Value y = attention({});
  outputs({y, onnx.matmul(input("z", {b, 2}), model.graph->first->input(1))});
  EXPECT_FALSE(run(kPackedAttention));
  EXPECT_EQ(reason(), "a weight is read elsewhere, too");
}

TEST_F(PackedAttention, WeightsAreKeptOnRequest) {
  outputs({attention({})});
  rewriting::Options options;
  options.keep_weights = true;
  EXPECT_FALSE(run(kPackedAttention, options));
}

}  // namespace
}  // namespace sardonyx::targets
