#include "passes/rules/attention/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;

class ShareAttentionHeads : public RulesTest {
 protected:
  Value repeated(Value x, std::int64_t group) {
    const Value apart = onnx.unsqueeze(x, {2});
    const Value wide =
        onnx.expand(apart, onnx::Shape{x.dim(0), x.dim(1), group, x.dim(2), x.dim(3)});
    return onnx.reshape(wide, {x.dim(0), x.dim(1) * group, x.dim(2), x.dim(3)});
  }
  Value q = input("q", {b, 6, s, 8}), k = input("k", {b, 3, s, 8}), v = input("v", {b, 3, s, 8});
};

TEST_F(ShareAttentionHeads, NothingIsRepeated) {
  outputs({onnx.attention(q, repeated(k, 2), repeated(v, 2))});
  EXPECT_TRUE(run(kShareAttentionHeads));
  EXPECT_EQ(ops(), "Attention");
  EXPECT_EQ(model.graph->first->input(1), k.info());
  EXPECT_EQ(model.graph->first->input(2), v.info());
}

TEST_F(ShareAttentionHeads, WhatIsReadElsewhereIsStillMadeThere) {
  const Value wide = repeated(k, 2);
  outputs({onnx.attention(q, wide, repeated(v, 2)), wide});
  EXPECT_TRUE(run(kShareAttentionHeads));
  EXPECT_EQ(ops(), "Unsqueeze Expand Reshape Attention");
}

TEST_F(ShareAttentionHeads, KeysAloneStay) {
  outputs({onnx.attention(q, repeated(k, 2), input("w", {b, 6, s, 8}))});
  EXPECT_FALSE(run(kShareAttentionHeads));
}

TEST_F(ShareAttentionHeads, HeadsThatAreGatheredAgainAndAgain) {
  const Value places = onnx.ints({0, 0, 1, 1, 2, 2});
  outputs({onnx.attention(q, onnx.gather(k, places, {.axis = 1}),
                          onnx.gather(v, places, {.axis = 1}))});
  EXPECT_TRUE(run(kShareAttentionHeads));
  EXPECT_EQ(ops(), "Attention");
}

TEST_F(ShareAttentionHeads, OneHeadForAll) {
  const Value one = input("one", {b, 1, s, 8});
  const Value wide = onnx.expand(one, onnx::Shape{b, 6, s, 8});
  outputs({onnx.attention(q, wide, wide)});
  EXPECT_TRUE(run(kShareAttentionHeads));
  EXPECT_EQ(ops(), "Attention");
  EXPECT_EQ(model.graph->first->input(2), one.info());
}

TEST_F(ShareAttentionHeads, HeadsThatAreGatheredInAnotherOrderStay) {
  const Value places = onnx.ints({0, 1, 2, 0, 1, 2});
  outputs({onnx.attention(q, onnx.gather(k, places, {.axis = 1}),
                          onnx.gather(v, places, {.axis = 1}))});
  EXPECT_FALSE(run(kShareAttentionHeads));
}

TEST_F(ShareAttentionHeads, HeadsInAnotherOrderStay) {
  const auto tiled = [&](Value x) {
    const Value wide = onnx.expand(onnx.unsqueeze(x, {1}), onnx::Shape{b, 2, 3, s, 8});
    return onnx.reshape(wide, {b, 6, s, 8});
  };
  outputs({onnx.attention(q, tiled(k), tiled(v))});
  EXPECT_FALSE(run(kShareAttentionHeads));
}

}  // namespace
}  // namespace sardonyx::passes
