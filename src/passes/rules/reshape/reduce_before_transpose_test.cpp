#include "passes/rules/reshape/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;

struct LoseAxes : RulesTest {
  Value last(const onnx::Shape& shape) {
    return onnx.transpose(onnx.exp(input("x", shape)), {0, 2, 3, 1});
  }
};

TEST_F(LoseAxes, OfAReduction) {
  outputs({onnx.neg(onnx.reduce_mean(last({b, 3, s, 5}), onnx.ints({1, -2}), {.keepdims = 0}))});
  EXPECT_TRUE(run(kReduceBeforeTranspose)) << reason();
  EXPECT_EQ(ops(), "Exp ReduceMean Neg");
  EXPECT_EQ(model.graph->first->next->input(1)->constant->ints().value(),
            (std::vector<std::int64_t>{2, 3}));
}

TEST_F(LoseAxes, OfTheGreatest) {
  outputs({onnx.arg_max(last({b, 3, s, 5}), {.axis = 3, .keepdims = 0})});
  EXPECT_TRUE(run(kReduceBeforeTranspose)) << reason();
  EXPECT_EQ(ops(), "Exp ArgMax");
  EXPECT_EQ(model.graph->last->int_or("axis", -1), 1);
}

TEST_F(LoseAxes, OfOneWhereAllAreReshaped) {
  outputs({onnx.neg(onnx.reshape(last({b, 3, 1, 1}), {b, 3}))});
  run(kReduceBeforeTranspose);
  EXPECT_EQ(ops().find("Transpose"), std::string::npos);
}

TEST_F(LoseAxes, WhatIsLeftInAnotherOrderStays) {
  outputs({onnx.neg(onnx.reduce_mean(last({b, 3, s, 5}), onnx.ints({1}), {.keepdims = 0})),
           onnx.neg(onnx.reduce_mean(last({b, 3, s, 5}), onnx.ints({1, 2})))});
  EXPECT_FALSE(run(kReduceBeforeTranspose));
}

}  // namespace
}  // namespace sardonyx::passes
