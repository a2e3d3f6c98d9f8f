#include "passes/rules/attention/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Value;

struct EliminateAllTrueMask : RulesTest {
  symbolic::Expr t = pool->symbol("t");
  Value q = input("q", {b, 2, s, 4}), k = input("k", {b, 2, s, 4}), v = input("v", {b, 2, s, 4}),
        other = input("other", {t});
  Value open = onnx.expand(onnx.scalar(1, DType::kBool), onnx::Shape{b, 1, s, s});

  void attend(Value mask) { outputs({onnx.attention(q, k, v, mask)}); }
};

TEST_F(EliminateAllTrueMask, WhatHidesNothingGoes) {
  attend(open);
  EXPECT_TRUE(run(kEliminateAllTrueMask));
  EXPECT_EQ(model.graph->last->input(3), nullptr);
  EXPECT_EQ(model.graph->first, model.graph->last) << "what made it goes with it";
}

TEST_F(EliminateAllTrueMask, AddedZerosGo) {
  attend(onnx.expand(onnx.zero(DType::kFloat32), onnx::Shape{b, 1, s, s}));
  EXPECT_TRUE(run(kEliminateAllTrueMask));
  EXPECT_EQ(model.graph->last->input(3), nullptr);
}

TEST_F(EliminateAllTrueMask, ZerosChosenForAllGo) {
  attend(onnx.where(open, onnx.zero(DType::kFloat32), onnx.scalar(-1e30, DType::kFloat32)));
  EXPECT_TRUE(run(kEliminateAllTrueMask));
  EXPECT_EQ(model.graph->last->input(3), nullptr);
}

TEST_F(EliminateAllTrueMask, WhatIsFedStays) {
  attend(onnx.and_(open, input("mask", {b, 1, s, s}, DType::kBool)));
  EXPECT_FALSE(run(kEliminateAllTrueMask));
}

TEST_F(EliminateAllTrueMask, OneThatMayEndBeforeTheKeysStays) {
  attend(onnx.expand(onnx.scalar(1, DType::kBool), onnx::Shape{b, 1, s, t}));
  EXPECT_FALSE(run(kEliminateAllTrueMask));
  EXPECT_EQ(reason(), "whether its mask reaches every key is not known");
}

}  // namespace
}  // namespace sardonyx::passes
