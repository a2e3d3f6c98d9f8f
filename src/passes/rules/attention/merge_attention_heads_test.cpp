#include "passes/rules/attention/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Value;

class MergeAttentionHeads : public RulesTest {
 protected:
  Value apart(Value x, std::int64_t heads) {
    const Value split = onnx.reshape(x, {x.dim(0), x.dim(1), heads, x.dim(2).value() / heads});
    return onnx.transpose(split, {0, 2, 1, 3});
  }
  Value together(Value x) {
    const Value turned = onnx.transpose(x, {0, 2, 1, 3});
    return onnx.reshape(turned, {x.dim(0), x.dim(2), x.dim(1).value() * x.dim(3).value()});
  }
  Value q = input("q", {b, s, 24}), k = input("k", {b, s, 12}), v = input("v", {b, s, 12});
};

TEST_F(MergeAttentionHeads, HeadsBecomeAnAttribute) {
  outputs({together(onnx.attention(apart(q, 6), apart(k, 3), apart(v, 3)))});
  EXPECT_TRUE(run(kMergeAttentionHeads));
  EXPECT_EQ(ops(), "Attention");
  const Node* attention = model.graph->first;
  EXPECT_EQ(attention->int_or("q_num_heads", 0), 6);
  EXPECT_EQ(attention->int_or("kv_num_heads", 0), 3);
}

TEST_F(MergeAttentionHeads, OneHeadLiesInItsRows) {
  const Value key = input("key", {b, s, 4}), value = input("value", {b, s, 4});
  outputs({together(
      onnx.attention(apart(q, 6), onnx.unsqueeze(key, {1}), onnx.unsqueeze(value, {1})))});
  EXPECT_TRUE(run(kMergeAttentionHeads));
  EXPECT_EQ(ops(), "Attention");
  EXPECT_EQ(model.graph->first->input(1), key.info());
  EXPECT_EQ(model.graph->first->int_or("kv_num_heads", 0), 1);
}

TEST_F(MergeAttentionHeads, RowsOfAMatrixNeedNoHeadsEither) {
  const Value y = onnx.attention(apart(q, 6), apart(k, 3), apart(v, 3));
  outputs({onnx.reshape(onnx.transpose(y, {0, 2, 1, 3}), {b * s, 24})});
  EXPECT_TRUE(run(kMergeAttentionHeads));
  EXPECT_EQ(ops(), "Attention Reshape");
}

TEST_F(MergeAttentionHeads, WhatHasTheLengthFirstIsSwapped) {
  const auto apart_of = [&](const char* name, std::int64_t heads) {
    const Value x = input(name, {s, b, heads * 4});
    return onnx.transpose(onnx.reshape(x, {s, b, heads, 4}), {1, 2, 0, 3});
  };
  const Value y = onnx.attention(apart_of("x", 6), apart_of("y", 3), apart(v, 3));
  outputs({onnx.neg(onnx.reshape(onnx.transpose(y, {2, 0, 1, 3}), {s, b, 24}))});
  EXPECT_TRUE(run(kMergeAttentionHeads)) << reason();
  EXPECT_EQ(ops(), "Transpose Transpose Attention Transpose Neg");
  EXPECT_EQ(type(model.graph->last->output()), "float32[s, b, 24]");
}

TEST_F(MergeAttentionHeads, HeadsThatAreReadApartStay) {
  const Value y = onnx.attention(apart(q, 6), apart(k, 3), apart(v, 3));
  outputs({y, together(y)});
  EXPECT_FALSE(run(kMergeAttentionHeads));
  EXPECT_EQ(reason(), "its result is read with the heads apart");
}

TEST_F(MergeAttentionHeads, AnotherOrderOfAxesStays) {
  const Value split = onnx.reshape(k, {b, 3, s, 4});
  outputs({together(onnx.attention(apart(q, 6), split, apart(v, 3)))});
  EXPECT_FALSE(run(kMergeAttentionHeads));
}

}  // namespace
}  // namespace sardonyx::passes
