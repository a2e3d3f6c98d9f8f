#include <cmath>
#include <limits>

#include "onnx/graph/joined.h"
#include "rewriting/test_graph.h"
#include "targets/onnxruntime/fusions/fusions.h"

namespace sardonyx::targets {
namespace {

using enum base::DType;
using onnx::Value;

// Queries of two heads of 16, keys and values of one, behind a cache of `p`.
class GroupQueryAttention : public rewriting::RulesTest {
 protected:
  GroupQueryAttention() { pool->constrain(s, {1, 50}); }

  symbolic::Expr p = constrained("p", 50);
  Value ids = input("input_ids", {b, s}, kInt64);
  Value tokens = input("attention_mask", {b, pool->symbol("total")}, kInt64);
  Value places = input("position_ids", {b, s}, kInt64);
  Value past = input("past", {b, 1, p, 16}), past_v = input("past_v", {b, 1, p, 16});

  symbolic::Expr constrained(const char* name, std::int64_t most) {
    pool->constrain(pool->symbol(name), {0, most});
    return pool->symbol(name);
  }
  Value queries() { return onnx.add(onnx.range(s), onnx.size(p)); }
  // [1, 1, s, p + s]
  Value causal() {
    return onnx.less_or_equal(onnx.unsqueeze(onnx.range(p + s), {0, 1, 2}),
                              onnx.unsqueeze(queries(), {0, 1, 3}));
  }
  Value padding() { return onnx.unsqueeze(onnx.cast(tokens, kBool), {1, 2}); }
  Value x = input("x", {b, s, 4});
  Value heads(const std::string& name, std::int64_t width) {
    const std::vector<float> ones(static_cast<std::size_t>(4 * width), 1);
    return onnx.matmul(x, weight(name, {4, width}, ones));
  }
  Value angles() {
    return onnx.mul(onnx.cast(onnx.unsqueeze(places, {2}), kFloat32),
                    weight("frequencies", {8}, {1, 0.5, 0.25, 0, 0, 0, 0, 0}));
  }
  // By a mask, with the angles of `places`.
  void attend(Value mask, onnx::AttentionAttributes attributes = {}) {
    const Value a = angles(), cosines = onnx.cos(a), sines = onnx.sin(a);
    const Value q = onnx.rotary_embedding(heads("wq", 32), cosines, sines, {}, {.num_heads = 2}),
                k = onnx.rotary_embedding(heads("wk", 16), cosines, sines, {}, {.num_heads = 1});
    attributes.q_num_heads = 2;
    attributes.kv_num_heads = 1;
    const auto made =
        onnx.attention_n(3, q, k, heads("wv", 16), mask, past, past_v, {}, attributes);
    outputs({made[0], made[1], made[2]});
  }
  const onnx::Node* made() const { return model.graph->last; }
};

TEST_F(GroupQueryAttention, AsFedItTakesProductsAnglesAndPadding) {
  attend(onnx.and_(causal(), padding()), {.scale = 0.5F});
  ASSERT_TRUE(run(kGroupQueryAttentionAsFed));
  EXPECT_EQ(ops(), "MatMul Cast ReduceSum Sub Shape Cast Squeeze GroupQueryAttention");
  EXPECT_EQ(made()->input(1), nullptr);
  EXPECT_EQ(type(made()->input(0)), "float32[b, s, 64]");
  EXPECT_EQ(made()->int_or("do_rotary", 0), 1);
  EXPECT_EQ(made()->float_or("scale", 0), 0.5F);
  EXPECT_EQ(type(made()->output(0)), "float32[b, s, 32]");
  EXPECT_EQ(type(made()->output(1)), "float32[b, 1, p + s, 16]");
  const std::vector<double> cosines = reals(made()->input(7));
  ASSERT_EQ(cosines.size(), 100U * 8);
  EXPECT_FLOAT_EQ(static_cast<float>(cosines[2 * 8 + 1]), std::cos(1.0F));
  EXPECT_EQ(cosines[2 * 8 + 3], 1);
}

TEST_F(GroupQueryAttention, WindowsAreOfSoManyKeys) {
  const Value near = onnx.greater(onnx.unsqueeze(onnx.range(p + s), {0, 1, 2}),
                                  onnx.unsqueeze(onnx.sub(queries(), onnx.size(3)), {0, 1, 3}));
  attend(onnx.and_(onnx.and_(causal(), near), padding()));
  ASSERT_TRUE(run(kGroupQueryAttentionAsFed));
  EXPECT_EQ(made()->int_or("local_window_size", 0), 3);
}

TEST_F(GroupQueryAttention, WhatCallersFeedMayHaveGaps) {
  attend(onnx.and_(causal(), padding()));
  EXPECT_FALSE(run(kGroupQueryAttention));
  EXPECT_TRUE(reason().starts_with("behind a cache its kernel takes several tokens"));
}

TEST_F(GroupQueryAttention, MasksOfOtherKeysStay) {
  const Value near = onnx.less_or_equal(onnx.unsqueeze(onnx.range(p + s), {0, 1, 2}),
                                        onnx.unsqueeze(onnx.range(s), {0, 1, 3}));
  attend(onnx.and_(near, padding()));
  EXPECT_FALSE(run(kGroupQueryAttentionAsFed));
  EXPECT_TRUE(reason().starts_with("its mask is not seen to be"));
}

TEST_F(GroupQueryAttention, AdditiveMasksAreReadThrough) {
  const float lowest = std::numeric_limits<float>::lowest();
  attend(onnx.where(onnx.and_(causal(), padding()), onnx.zero(kFloat32),
                    onnx.scalar(lowest, kFloat32)));
  EXPECT_TRUE(run(kGroupQueryAttentionAsFed));
}

TEST_F(GroupQueryAttention, BoundsOfAdditiveMasksAreReadThrough) {
  const float lowest = std::numeric_limits<float>::lowest();
  const Value mask = onnx.where(onnx.and_(causal(), padding()), onnx.zero(kFloat32),
                                onnx.scalar(lowest, kFloat32));
  attend(onnx.max({mask, onnx.scalar(-3.4e38F, kFloat32)}));
  EXPECT_TRUE(run(kGroupQueryAttentionAsFed));
}

// Heads that were normalized after they were split, say.
TEST_F(GroupQueryAttention, HeadsApartArePutSideBySide) {
  const Value q = input("q", {b, 2, s, 16}), k = input("k", {b, 1, s, 16}),
              v = input("v", {b, 1, s, 16});
  const auto y =
      onnx.attention_n(3, q, k, v, onnx.and_(causal(), padding()), past, past_v, {}, {.scale = 2});
  outputs({y[0], y[1], y[2]});
  ASSERT_TRUE(run(kGroupQueryAttentionAsFed));
  const onnx::Node* attention = model.graph->outputs[1]->producer;
  EXPECT_EQ(attention->op_type, "GroupQueryAttention");
  EXPECT_EQ(type(attention->input(0)), "float32[b, s, 32]");
  EXPECT_EQ(type(attention->input(1)), "float32[b, s, 16]");
  EXPECT_EQ(attention->int_or("kv_num_heads", 0), 1);
  EXPECT_EQ(type(model.graph->outputs[0]), "float32[b, 2, s, 16]");
}

TEST_F(GroupQueryAttention, HeadsApartMayHaveTheCacheByConcat) {
  const Value q = input("q", {b, 2, s, 16}), k = input("k", {b, 1, s, 16}),
              v = input("v", {b, 1, s, 16});
  const Value keys = onnx.concat({past, k}, 2), values = onnx.concat({past_v, v}, 2);
  const Value y = onnx.attention(q, keys, values, onnx.and_(causal(), padding()));
  outputs({onnx.reshape(onnx.swap_axes(y, 1, 2), onnx::Shape{b, s, 32}), keys, values});
  ASSERT_TRUE(run(kGroupQueryAttentionAsFed));
  const onnx::Node* attention = model.graph->outputs[0]->producer;
  EXPECT_EQ(attention->op_type, "GroupQueryAttention");
  EXPECT_EQ(attention->input(3), past.info());
  EXPECT_EQ(model.graph->outputs[2], attention->output(2));
}

TEST_F(GroupQueryAttention, WithoutALongestSequenceTheEmbeddingStays) {
  p = pool->symbol("unbounded");
  past = input("past_2", {b, 1, p, 16});
  past_v = input("past_v_2", {b, 1, p, 16});
  attend(onnx.and_(causal(), padding()));
  ASSERT_TRUE(run(kGroupQueryAttentionAsFed));
  EXPECT_EQ(made()->int_or("do_rotary", 0), 0);
  EXPECT_EQ(made()->input(0)->producer->op_type, "RotaryEmbedding");
  EXPECT_TRUE(reason().starts_with("no longest sequence is known"));
}

TEST_F(GroupQueryAttention, ApartItIsTurnedInFront) {
  attend(onnx.and_(causal(), padding()));
  ASSERT_TRUE(run(kGroupQueryAttentionApart));
  EXPECT_EQ(made()->find("do_rotary"), nullptr);
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    const onnx::Node* turned = made()->input(i)->producer;
    EXPECT_EQ(turned->domain, "com.microsoft");
    EXPECT_EQ(turned->op_type, "RotaryEmbedding");
    EXPECT_EQ(turned->input(1), places.info());
    EXPECT_EQ(turned->int_or("num_heads", 0), i == 0 ? 2 : 1);
  }
  EXPECT_TRUE(made()->input(2)->producer->is(onnx::Op::kMatMul));
  EXPECT_EQ(made()->input(7), nullptr);
}

TEST_F(GroupQueryAttention, ApartItLooksAtAllKeys) {
  const Value near = onnx.greater(onnx.unsqueeze(onnx.range(p + s), {0, 1, 2}),
                                  onnx.unsqueeze(onnx.sub(queries(), onnx.size(3)), {0, 1, 3}));
  attend(onnx.and_(onnx.and_(causal(), near), padding()));
  EXPECT_FALSE(run(kGroupQueryAttentionApart));
  EXPECT_EQ(reason(), "the provider's kernel has no window");
}

TEST_F(GroupQueryAttention, ApartItHasNoSoftcap) {
  attend(onnx.and_(causal(), padding()), {.softcap = 3});
  EXPECT_FALSE(run(kGroupQueryAttentionApart));
  EXPECT_TRUE(reason().ends_with("neither sinks nor a softcap"));
}

// Heads apart, one key more, the cache in front by Concat.
TEST_F(GroupQueryAttention, SinksAreAnInput) {
  const auto apart = [&](Value rows, std::int64_t heads) {
    return onnx.swap_axes(onnx.reshape(rows, onnx::Shape{b, s, heads, 16}), 1, 2);
  };
  const Value k = onnx.concat({past, apart(heads("wk", 16), 1)}, 2),
              v = onnx.concat({past_v, apart(heads("wv", 16), 1)}, 2);
  const auto one_more = [&](Value all) {
    return onnx.pad(all, onnx.ints({0, 0, 0, 0, 0, 0, 1, 0}));
  };
  const float lowest = std::numeric_limits<float>::lowest();
  const Value mask = onnx.where(onnx.and_(causal(), padding()), onnx.zero(kFloat32),
                                onnx.scalar(lowest, kFloat32));
  const Value keys = onnx.shape(k, {.end = 3, .start = 2});
  const Value row = onnx.pad(weight("sinks", {1, 2, 1, 1}, {1, 2}),
                             onnx.concat({onnx.ints({0, 0, 0}), keys, onnx.ints({0, 0, 0, 0})}, 0));
  const Value seen = onnx.add(onnx.pad(mask, onnx.ints({0, 0, 0, 0, 0, 0, 0, 1})), row);
  const Value y = onnx.attention(apart(heads("wq", 32), 2), one_more(k), one_more(v), seen, {}, {},
                                 {}, {.scale = 0.5F});
  outputs({onnx.reshape(onnx.swap_axes(y, 1, 2), onnx::Shape{b, s, 32}), k, v});
  ASSERT_TRUE(run(kGroupQueryAttentionAsFed));
  EXPECT_EQ(type(made()->input(11)), "float32[2]");
  EXPECT_EQ(made()->input(3), past.info());
  EXPECT_EQ(type(made()->output(0)), "float32[b, s, 32]");
  EXPECT_EQ(made()->float_or("scale", 0), 0.5F);
  EXPECT_EQ(model.graph->outputs[1], made()->output(1));
}

// A batch of one whose mask nobody feeds.
TEST_F(GroupQueryAttention, OfOneBatchByItsSizes) {
  b = 1;
  x = input("x1", {1, s, 4});
  past = input("past1", {1, 1, p, 16});
  past_v = input("past_v1", {1, 1, p, 16});
  places = onnx.unsqueeze(queries(), {0});
  attend(causal());
  ASSERT_TRUE(run(kGroupQueryAttention));
  EXPECT_EQ(made()->int_or("do_rotary", 0), 1);
  EXPECT_EQ(made()->input(5)->dtype, kInt32);
}

}  // namespace
}  // namespace sardonyx::targets
