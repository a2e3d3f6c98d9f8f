#include "passes/rules/identities/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Value;

class WhereOfNot : public RulesTest {
 protected:
  Value c = input("c", {b, 1}, DType::kBool), x = input("x", {b, 4}), y = input("y", {4});
};

TEST_F(WhereOfNot, TheOtherWayRound) {
  outputs({onnx.where(onnx.not_(c), x, y)});
  EXPECT_TRUE(run(kWhereOfNot));
  EXPECT_EQ(ops(), "Where");
  EXPECT_EQ(model.graph->last->inputs[1], y.info());
  EXPECT_EQ(model.graph->last->inputs[2], x.info());
}

TEST_F(WhereOfNot, WhatChoosesByItselfStays) {
  outputs({onnx.where(c, x, y)});
  EXPECT_FALSE(run(kWhereOfNot));
}

}  // namespace
}  // namespace sardonyx::passes
