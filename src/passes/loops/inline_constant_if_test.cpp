#include "passes/passes.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;

class InlineConstantIf : public RulesTest {
 protected:
  // If(condition) with Exp in one branch and Neg in the other.
  Value choice(Value condition, Value of) {
    onnx::Graph* yes = onnx.begin_body("yes");
    onnx.end_body(std::vector<Value>{onnx.exp(of)});
    onnx::Graph* no = onnx.begin_body("no");
    onnx.end_body(std::vector<Value>{onnx.neg(of)});
    return onnx.if_(condition, yes, no)[0];
  }
  Value x = input("x", {b, 4});
};

TEST_F(InlineConstantIf, TheBranchTakenStandsWhereTheIfStood) {
  outputs({onnx.abs(choice(onnx.bool_scalar(false), onnx.sin(x)))});
  EXPECT_TRUE(run(inline_constant_if));
  EXPECT_EQ(ops(), "Sin Neg Abs");
  EXPECT_FALSE(run(inline_constant_if));
}

TEST_F(InlineConstantIf, AGraphOutputKeepsItsName) {
  const Value y = choice(onnx.bool_scalar(true), x);
  model.rename(y.info(), "result");
  outputs({y});
  EXPECT_TRUE(run(inline_constant_if));
  EXPECT_EQ(ops(), "Exp");
  EXPECT_EQ(model.graph->outputs[0]->name, "result");
}

TEST_F(InlineConstantIf, WhatACallerDecidesStays) {
  outputs({choice(input("flag", {}, onnx::DType::kBool), x)});
  EXPECT_FALSE(run(inline_constant_if));
}

}  // namespace
}  // namespace sardonyx::passes
