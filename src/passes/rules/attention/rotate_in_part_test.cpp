#include "passes/rules/attention/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;

class RotateInPart : public RulesTest {
 protected:
  Value x = input("x", {b, 2, s, 8});
  Value cosine = input("cosine", {b, s, 2}), sine = input("sine", {b, s, 2});
  std::vector<Value> parts = onnx.split(2, x, onnx.ints({4, 4}), {.axis = 3});
  Value turned = onnx.rotary_embedding(parts[0], cosine, sine);
};

TEST_F(RotateInPart, TheRestGoesAlong) {
  outputs({onnx.concat({turned, parts[1]}, 3)});
  EXPECT_TRUE(run(kRotateInPart));
  EXPECT_EQ(ops(), "RotaryEmbedding");
  const onnx::Node* made = model.graph->first;
  EXPECT_EQ(made->inputs, (std::vector{x.info(), cosine.info(), sine.info()}));
  EXPECT_EQ(made->int_or("rotary_embedding_dim", 0), 4);
  EXPECT_EQ(type(made->output()), "float32[b, 2, s, 8]");
}

TEST_F(RotateInPart, OfHeadsBehindTheLength) {
  const Value z = input("z", {b, s, 2, 8});
  const auto halves = onnx.split(2, z, onnx.ints({4, 4}), {.axis = 3});
  const Value joined = onnx.reshape(halves[0], onnx.ints({0, 0, 8}));
  const Value by_heads = onnx.rotary_embedding(joined, cosine, sine, {}, {.num_heads = 2});
  const Value apart = onnx.reshape(by_heads, onnx.ints({0, 0, 2, 4}));
  outputs({onnx.concat({apart, halves[1]}, 3)});
  EXPECT_TRUE(run(kRotateInPart));
  const onnx::Node* made = model.graph->last->previous;
  ASSERT_TRUE(made->is("RotaryEmbedding"));
  EXPECT_EQ(made->int_or("num_heads", 0), 2);
  EXPECT_EQ(made->int_or("rotary_embedding_dim", 0), 4);
  EXPECT_EQ(type(made->output()), "float32[b, s, 16]");
  EXPECT_EQ(type(model.graph->last->output()), "float32[b, s, 2, 8]");
}

TEST_F(RotateInPart, TheRestInFrontStays) {
  outputs({onnx.concat({parts[1], turned}, 3)});
  EXPECT_FALSE(run(kRotateInPart));
}

TEST_F(RotateInPart, AnotherAxisStays) {
  outputs({onnx.concat({turned, parts[1]}, 2)});
  EXPECT_FALSE(run(kRotateInPart));
}

TEST_F(RotateInPart, WhatIsReadElsewhereStays) {
  outputs({onnx.concat({turned, parts[1]}, 3), turned});
  EXPECT_FALSE(run(kRotateInPart));
  EXPECT_EQ(reason(), "something else reads what is turned, or the rest");
}

}  // namespace
}  // namespace sardonyx::passes
