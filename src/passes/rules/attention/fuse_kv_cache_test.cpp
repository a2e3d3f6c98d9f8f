#include "passes/rules/attention/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;

class FuseKvCache : public RulesTest {
 protected:
  symbolic::Expr p = pool->symbol("p");
  Value q = input("q", {b, 6, s, 8}), k = input("k", {b, 3, s, 8}), v = input("v", {b, 3, s, 8});
  Value past_k = input("past_k", {b, 3, p, 8}), past_v = input("past_v", {b, 3, p, 8});
  Value mask = input("mask", {b, 1, s, p + s}, onnx::DType::kBool);
  Value keys = onnx.concat({past_k, k}, 2), values = onnx.concat({past_v, v}, 2);
};

TEST_F(FuseKvCache, OldAndNewAreJoinedByTheOperator) {
  outputs({onnx.attention(q, keys, values, mask), keys, values});
  EXPECT_TRUE(run(kFuseKvCache));
  EXPECT_EQ(ops(), "Attention");
  const onnx::Node* attention = model.graph->first;
  EXPECT_EQ(attention->input(1), k.info());
  EXPECT_EQ(attention->input(4), past_k.info());
  EXPECT_EQ(attention->input(5), past_v.info());
  EXPECT_EQ(model.graph->outputs[1], attention->output(1));
  EXPECT_EQ(model.graph->outputs[2], attention->output(2));
}

TEST_F(FuseKvCache, PlacesCountedFromTheBeginningStay) {
  outputs({onnx.attention(q, keys, values, {}, {}, {}, {}, {.is_causal = 1})});
  EXPECT_FALSE(run(kFuseKvCache));
  EXPECT_EQ(reason(), "its queries are counted from the beginning of the cache");
}

TEST_F(FuseKvCache, WhatIsReadBeforeStays) {
  const Value scores = onnx.relu(keys);
  outputs({onnx.attention(q, keys, values, mask), scores});
  EXPECT_FALSE(run(kFuseKvCache));
  EXPECT_EQ(reason(), "what is before it reads the longer keys or values");
}

TEST_F(FuseKvCache, OneTensorAsKeysAndValuesStays) {
  outputs({onnx.attention(q, keys, keys, mask)});
  EXPECT_FALSE(run(kFuseKvCache));
}

}  // namespace
}  // namespace sardonyx::passes
