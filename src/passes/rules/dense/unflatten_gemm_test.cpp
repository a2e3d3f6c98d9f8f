#include "passes/passes.h"
#include "passes/rules/dense/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;
using symbolic::Expr;

TEST_F(RulesTest, GemmOfFlattenedRowsBecomesMatMul) {
  const Value x = input("x", {b, s, 3});
  const Value w = weight("w", {3, 2}, {1, 2, 3, 4, 5, 6}), c = weight("c", {2}, {1, 2});
  const Value rows = onnx.reshape(x, {b * s, Expr(3)});
  const Value y = onnx.reshape(onnx.gemm(rows, w, c), {b, s, Expr(2)});
  outputs({y});
  const std::string name = y->name;
  EXPECT_TRUE(run(kUnflattenGemm));
  EXPECT_EQ(ops().substr(ops().size() - 10), "MatMul Add");
  EXPECT_EQ(model.graph->outputs[0]->name, name);
}

TEST_F(RulesTest, GemmOfWindowsBecomesMatMul) {
  const Value x = input("x", {b, 2, 3, 4});
  const Value w = weight("w", {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), c = weight("c", {2}, {1, 2});
  const Value rows = onnx.reshape(x, {b * Expr(6), Expr(4)});
  const symbolic::Expr windows = b * Expr(2);
  outputs({onnx.reshape(onnx.gemm(rows, w, c), {windows, Expr(3), Expr(1), Expr(2)}),
           onnx.reshape(onnx.gemm(rows, w, weight("d", {2}, {3, 4})),
                        {windows, Expr(3), Expr(2), Expr(1)})});
  EXPECT_TRUE(run(kUnflattenGemm)) << reason();
  EXPECT_EQ(ops(), "Reshape MatMul Add Reshape MatMul Add Reshape");
  EXPECT_EQ(reals(model.graph->first->input(1)), (std::vector<double>{-1, 3, 4}));
  EXPECT_EQ(reals(model.graph->last->input(1)), (std::vector<double>{-1, 3, 2, 1}));
}

TEST_F(RulesTest, GemmOfRowsThatAreNoWindowsStays) {
  const Value x = input("x", {b, 2, 3, 4});
  const Value w = weight("w", {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), c = weight("c", {2}, {1, 2});
  const Value rows = onnx.reshape(x, {b * Expr(6), Expr(4)});
  outputs({onnx.reshape(onnx.gemm(rows, w, c), {b * Expr(2), Expr(6)})});
  EXPECT_FALSE(run(kUnflattenGemm));
}

TEST_F(RulesTest, GemmOfRowsThatHeadsMakeBecomesMatMul) {
  const Value x = input("x", {s, b, 2, 2});
  const Value w = weight("w", {3, 4}, std::vector<float>(12, 1)), c = weight("c", {3}, {1, 2, 3});
  const Value rows = onnx.reshape(x, {b * s, Expr(4)});
  outputs({onnx.reshape(onnx.gemm(rows, w, c, {.transB = 1}), {s, b, 3})});
  EXPECT_TRUE(run(kUnflattenGemm)) << reason();
  run(drop_unused_nodes);
  EXPECT_EQ(ops(), "Reshape Transpose MatMul Add");
}

TEST_F(RulesTest, GemmOfRowsOfOtherAxesStays) {
  const Value x = input("x", {s, b, 2, 2});
  const Value w = weight("w", {4, 2}, std::vector<float>(8, 1)), c = weight("c", {2}, {1, 2});
  const Value rows = onnx.reshape(x, {b * s, Expr(4)});
  outputs({onnx.reshape(onnx.gemm(rows, w, c), {b, s, 2})});
  EXPECT_FALSE(run(kUnflattenGemm));
}

TEST_F(RulesTest, AScaledGemmStays) {
  const Value x = input("x", {b, s, 3});
  const Value w = weight("w", {3, 2}, {1, 2, 3, 4, 5, 6}), c = weight("c", {2}, {1, 2});
  const Value rows = onnx.reshape(x, {b * s, Expr(3)});
  outputs({onnx.reshape(onnx.gemm(rows, w, c, {.alpha = 2.0F}), {b, s, Expr(2)})});
  EXPECT_FALSE(run(kUnflattenGemm));
}

}  // namespace
}  // namespace sardonyx::passes
