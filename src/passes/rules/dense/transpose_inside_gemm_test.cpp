#include "passes/rules/dense/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;

class TransposeInsideGemm : public RulesTest {
 protected:
  Value x = input("x", {4, b}), y = input("y", {s, 4});
};

TEST_F(TransposeInsideGemm, OfEitherFactor) {
  outputs({onnx.gemm(onnx.transpose(x, {1, 0}), onnx.transpose(y, {1, 0}))});
  EXPECT_TRUE(run(kTransposeInsideGemm));
  EXPECT_EQ(ops(), "Gemm");
  const onnx::Node* gemm = model.graph->last;
  EXPECT_EQ(gemm->int_or("transA", 0), 1);
  EXPECT_EQ(gemm->int_or("transB", 0), 1);
  EXPECT_EQ(type(gemm->output()), "float32[b, s]");
}

TEST_F(TransposeInsideGemm, TurnedTwiceItIsAsItWas) {
  outputs({onnx.gemm(onnx.transpose(y, {1, 0}), x, {}, {.transA = 1})});
  EXPECT_TRUE(run(kTransposeInsideGemm));
  EXPECT_EQ(model.graph->last->int_or("transA", 1), 0);
}

TEST_F(TransposeInsideGemm, WhatIsReadElsewhereStays) {
  const Value turned = onnx.transpose(x, {1, 0});
  outputs({onnx.gemm(turned, onnx.relu(x)), onnx.neg(turned)});
  EXPECT_FALSE(run(kTransposeInsideGemm));
}

}  // namespace
}  // namespace sardonyx::passes
