#include "passes/rules/reshape/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;

class ReduceToShape : public RulesTest {
 protected:
  Value x = input("x", {b, 3, s});
  Value mean(std::vector<std::int64_t> axes, bool keeps) {
    return onnx.reduce_mean(x, onnx.ints(axes), {.keepdims = keeps ? 1 : 0});
  }
};

TEST_F(ReduceToShape, AxesThatComeBack) {
  outputs({onnx.unsqueeze(mean({1, 2}, false), {1, 2})});
  EXPECT_TRUE(run(kReduceToShape));
  EXPECT_EQ(ops(), "ReduceMean");
  EXPECT_EQ(type(model.graph->last->output()), "float32[b, 1, 1]");
}

TEST_F(ReduceToShape, AxesThatGo) {
  outputs({onnx.squeeze(mean({-1}, true), {2}), onnx.squeeze(onnx.arg_max(x, {.axis = 1}), {1})});
  EXPECT_TRUE(run(kReduceToShape));
  EXPECT_EQ(ops(), "ReduceMean ArgMax");
  EXPECT_EQ(type(model.graph->first->output()), "float32[b, 3]");
  EXPECT_EQ(type(model.graph->last->output()), "int64[b, s]");
}

TEST_F(ReduceToShape, OtherAxesStay) {
  outputs({onnx.unsqueeze(mean({2}, false), {0})});
  EXPECT_FALSE(run(kReduceToShape));
}

TEST_F(ReduceToShape, WhatIsReadElsewhereStays) {
  const Value kept = mean({2}, true);
  outputs({onnx.squeeze(kept, {2}), onnx.sub(x, kept)});
  EXPECT_FALSE(run(kReduceToShape));
}

}  // namespace
}  // namespace sardonyx::passes
