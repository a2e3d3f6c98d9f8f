#include "passes/rules/activations/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;

class RaiseSwiglu : public RulesTest {
 protected:
  Value gate = input("gate", {b, s, 4});
};

TEST_F(RaiseSwiglu, OfAGatedProduct) {
  outputs({onnx.mul(input("x", {b, s, 4}), onnx.swish(gate, {.alpha = 2.0F}))});
  EXPECT_TRUE(run(kRaiseSwiglu));
  EXPECT_EQ(ops(), "SwiGLU");
  EXPECT_EQ(model.graph->first->float_or("alpha", 0), 2.0F);
  EXPECT_EQ(model.graph->first->input(0), gate.info());
}

TEST_F(RaiseSwiglu, ABroadcastStays) {
  outputs({onnx.mul(onnx.swish(gate), input("x", {4}))});
  EXPECT_FALSE(run(kRaiseSwiglu));
  EXPECT_EQ(reason(), "the gate and what it gates may have different shapes");
}

TEST_F(RaiseSwiglu, WhatIsReadElsewhereStays) {
  const Value activated = onnx.swish(gate);
  outputs({onnx.mul(activated, input("x", {b, s, 4})), activated});
  EXPECT_FALSE(run(kRaiseSwiglu));
}

}  // namespace
}  // namespace sardonyx::passes
