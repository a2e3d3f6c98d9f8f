#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "targets/lowering_test_graph.h"

namespace sardonyx::targets {
namespace {

using onnx::Node;

std::string rejected(const auto& action) {
  try {
    action();
  } catch (const base::Error& error) {
    return error.diagnostics().front().code;
  }
  return "";
}

TEST(KernelTypes, CastsRoundWhatHasNoKernel) {
  LoweringGraph g;
  const Value x = g.input("x", {2, 3}, DType::kBFloat16);
  EXPECT_EQ(LoweringGraph::type(g.onnx.tanh(x)), "bfloat16[2, 3]");
  EXPECT_EQ(g.ops(), "Cast Tanh Cast");
  g.onnx.exp(x);  // the cast up is shared
  EXPECT_EQ(g.ops(), "Cast Tanh Cast Exp Cast");
}

TEST(KernelTypes, ChainsStayInTheWiderType) {
  // bfloat16 rounds between two operators, so that both casts stay there.
  LoweringGraph g;
  const Value x = g.input("x", {2}, DType::kBFloat16);
  g.onnx.exp(g.onnx.tanh(x));
  EXPECT_EQ(g.ops(), "Cast Tanh Cast Cast Exp Cast");
}

TEST(KernelTypes, Float16IsLeftToTheRuntimeWhereItIsStandard) {
  LoweringGraph g;
  const Value x = g.input("x", {2}, DType::kFloat16);
  g.onnx.sin(x);
  EXPECT_EQ(g.ops(), "Sin");
  g.onnx.celu(x);  // float32 only, by the standard
  EXPECT_EQ(g.ops(), "Sin Exp Sub Min Max Add");
}

TEST(KernelTypes, IntegersGoToWiderOnes) {
  LoweringGraph g(13);
  const Value x = g.input("x", {2}, DType::kInt8), u = g.input("u", {2}, DType::kUInt64);
  EXPECT_EQ(LoweringGraph::type(g.onnx.add(x, x)), "int8[2]");
  EXPECT_EQ(g.ops(), "Cast Add Cast");
  const Value c = g.input("c", {2}, DType::kBool);
  EXPECT_EQ(LoweringGraph::type(g.onnx.where(c, u, u)), "uint64[2]");
  EXPECT_EQ(LoweringGraph::type(g.onnx.where(c, c, c)), "bool[2]");
  EXPECT_EQ(rejected([&] { g.onnx.sin(x); }), "SX1503");
}

TEST(KernelTypes, DoubleInFloatIsNoted) {
  LoweringGraph g;
  const Value x = g.input("x", {2}, DType::kFloat64);
  const Value y = g.onnx.hardmax(x);
  EXPECT_EQ(LoweringGraph::type(y), "float64[2]");
  const Node* hardmax = y->producer->input(0)->producer;
  ASSERT_EQ(hardmax->metadata.size(), 1U);
  EXPECT_EQ(hardmax->metadata[0].second, "float32");
  EXPECT_EQ(LoweringGraph::type(g.onnx.exp(x)->producer->input(0)), "float64[2]");
}

TEST(KernelTypes, RefusesWhatNoTypeCanStandInFor) {
  LoweringGraph g;
  const Value u = g.input("u", {2, 2}, DType::kUInt64);
  EXPECT_EQ(rejected([&] { g.onnx.reduce_max(u); }), "SX1505");
  EXPECT_EQ(rejected([&] { g.onnx.gemm(u, u); }), "SX1505");
}

TEST(KernelTypes, NonZeroAsksForTheTruth) {
  LoweringGraph g;
  const Value x = g.input("x", {2}, DType::kFloat64);
  EXPECT_EQ(g.onnx.nonzero(x)->producer->input(0)->dtype, DType::kBool);
}

TEST(KernelTypes, ElementaryFunctionsStayInDouble) {
  LoweringGraph g;
  const Value x = g.input("x", {2}, DType::kFloat64);
  EXPECT_EQ(g.onnx.tan(x)->producer->op_type, "Div");
  g.onnx.erf(x);
  for (const Node* node = g.model.graph->first; node != nullptr; node = node->next)
    EXPECT_NE(node->op_type, "Cast");
}

TEST(KernelTypes, TypesThatAnAttributeAsksFor) {
  LoweringGraph g;
  const Value x = g.input("x", {3, 3}, DType::kBFloat16);
  EXPECT_EQ(LoweringGraph::type(g.onnx.eye_like(x, {.dtype = DType::kBool})), "bool[3, 3]");
  EXPECT_EQ(LoweringGraph::type(g.onnx.eye_like(x)), "bfloat16[3, 3]");
  EXPECT_EQ(LoweringGraph::type(g.onnx.random_normal_like(x)), "bfloat16[3, 3]");
  for (const Node* node = g.model.graph->first; node != nullptr; node = node->next) {
    if (node->op_type != "EyeLike" && node->op_type != "RandomNormalLike") continue;
    EXPECT_NE(static_cast<DType>(node->int_or("dtype", 1)), DType::kBFloat16);
  }
  LoweringGraph old(13);
  const Expr n = old.pool->symbol("n");
  old.input("y", {n});
  const Expr shape[] = {n};
  EXPECT_EQ(LoweringGraph::type(old.onnx.full(shape, old.onnx.scalar(2, DType::kBFloat16))),
            "bfloat16[n]");
  EXPECT_EQ(old.ops(), "Shape ConstantOfShape Cast");
}

TEST(KernelTypes, TheStandardAloneNeedsFewerCasts) {
  LoweringGraph g(20, "standard");
  g.onnx.tanh(g.input("x", {2}, DType::kBFloat16));
  g.onnx.erf(g.input("y", {2}, DType::kFloat64));
  EXPECT_EQ(g.ops(), "Tanh Erf");
}

}  // namespace
}  // namespace sardonyx::targets
