#include "onnx/emit/opset_forms.h"

#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "onnx/emit/emit_test_graph.h"

namespace sardonyx::onnx {
namespace {

using Elements = std::vector<std::int64_t>;

std::string refused(const auto& action) {
  try {
    action();
  } catch (const base::Error& error) {
    return error.diagnostics().front().code;
  }
  return "";
}

TEST(OpsetForms, ReducedAxes) {
  for (const std::int64_t opset : {13, 17, 18, 26}) {
    TestGraph g(opset);
    const Value x = g.input("x", {2, 3, 4});
    const Value y = g.onnx.reduce("ReduceMax", x, {{-1, 0}}, false);
    EXPECT_EQ(TestGraph::type(y), "float32[3]");
    const Node* node = y->producer;
    EXPECT_EQ(node->ints("axes") != nullptr, opset < 18);
    EXPECT_EQ(node->inputs.size(), opset < 18 ? 1U : 2U);
    EXPECT_EQ(g.onnx.reduce("ReduceSum", x, {{1}}, true)->producer->inputs.size(), 2U);
    EXPECT_EQ(TestGraph::type(g.onnx.reduce_mean(x)), "float32[1, 1, 1]");
  }
  TestGraph g(13);
  const Value axes = g.input("axes", {1}, DType::kInt64);
  EXPECT_EQ(refused([&] { g.onnx.reduce_max(g.input("x", {2}), axes); }), "SX1504");
}

TEST(OpsetForms, SplitKnowsHowManyPieces) {
  TestGraph old(13), recent(20);
  for (TestGraph* g : {&old, &recent}) {
    const Value x = g->input("x", {7, 6});
    const Values even = g->onnx.split(3, x, {}, {.axis = 1});
    EXPECT_EQ(TestGraph::type(even[2]), "float32[7, 2]");
    const Values uneven = g->onnx.split(3, x);
    EXPECT_EQ(TestGraph::type(uneven[0]), "float32[3, 6]");
    EXPECT_EQ(TestGraph::type(uneven[2]), "float32[1, 6]");
    const Values given = g->onnx.split(2, x, g->onnx.ints({5, 2}), {.num_outputs = 2});
    EXPECT_EQ(TestGraph::type(given[0]), "float32[5, 6]");
  }
}

TEST(OpsetForms, PadsOfSomeAxes) {
  TestGraph g(13);
  const Value x = g.input("x", {2, 3, 4});
  const Value y = g.onnx.pad(x, g.onnx.ints({1, 2}), {}, g.onnx.ints({-1}));
  EXPECT_EQ(TestGraph::type(y), "float32[2, 3, 7]");
  EXPECT_EQ(Value(y->producer->input(1)).ints(), (Elements{0, 0, 1, 0, 0, 2}));
}

TEST(OpsetForms, ResizeOfSomeAxes) {
  TestGraph g(13);
  const Value x = g.input("x", {2, 3, 4, 5});
  const Value scales = g.onnx.constant(Tensor::filled(DType::kFloat32, {2}, 2));
  const Value y = g.onnx.resize(x, {}, scales, {}, {.axes = {2, 3}, .mode = "linear"});
  EXPECT_EQ(TestGraph::type(y), "float32[2, 3, 8, 10]");
  const Value z = g.onnx.resize(x, {}, {}, g.onnx.ints({7, 9}), {.axes = {2, 3}});
  EXPECT_EQ(TestGraph::type(z), "float32[2, 3, 7, 9]");
  EXPECT_EQ(refused([&] { g.onnx.resize(x, {}, scales, {}, {.antialias = 1}); }), "SX1504");
}

TEST(OpsetForms, ModesOfGridSample) {
  TestGraph old(16), recent(20);
  const Value x = old.input("x", {1, 2, 3, 4}), grid = old.input("grid", {1, 5, 6, 2});
  const Value y = old.onnx.grid_sample(x, grid, {.mode = "cubic"});
  EXPECT_EQ(y->producer->string_or("mode", ""), "bicubic");
  EXPECT_EQ(old.onnx.grid_sample(x, grid)->producer->find("mode"), nullptr);  // the old default
  EXPECT_EQ(TestGraph::type(y), "float32[1, 2, 5, 6]");
  const Value v = old.input("v", {1, 2, 3, 4, 5}), g3 = old.input("g3", {1, 5, 6, 7, 3});
  EXPECT_EQ(refused([&] { old.onnx.grid_sample(v, g3); }), "SX1504");
}

TEST(OpsetForms, AxisOfDft) {
  for (const std::int64_t opset : {17, 20}) {
    TestGraph g(opset);
    const Value x = g.input("x", {2, 8, 5, 1});
    const Value y = g.onnx.dft(x, {}, g.onnx.int_scalar(1), {.onesided = 1});
    EXPECT_EQ(TestGraph::type(y), "float32[2, 5, 5, 2]");
    EXPECT_EQ(TestGraph::type(g.onnx.dft(x, {}, {}, {.onesided = 1})), "float32[2, 8, 3, 2]");
  }
}

TEST(OpsetForms, PartOfAShape) {
  TestGraph g(13);
  const Expr b = g.pool->symbol("b");
  const Value x = g.input("x", {b, 3, b});
  EXPECT_EQ(g.onnx.shape(x, {.end = 2, .start = 1}).ints(), Elements{3});
  EXPECT_EQ(g.onnx.shape(x, {.end = 1})->contents, std::vector<Expr>{b});
}

TEST(SpelledOut, NewerFunctionsByOlderOperators) {
  TestGraph g(13);
  const Value x = g.input("x", {2, 6, 4}), scale = g.input("scale", {4});
  const Value channels = g.input("channels", {6});
  EXPECT_EQ(TestGraph::type(g.onnx.gelu(x)), "float32[2, 6, 4]");
  EXPECT_EQ(TestGraph::type(g.onnx.gelu(x, {.approximate = "tanh"})), "float32[2, 6, 4]");
  EXPECT_EQ(TestGraph::type(g.onnx.hard_swish(x)), "float32[2, 6, 4]");
  EXPECT_EQ(TestGraph::type(g.onnx.mish(x)), "float32[2, 6, 4]");
  EXPECT_EQ(TestGraph::type(g.onnx.swish(x)), "float32[2, 6, 4]");
  EXPECT_EQ(TestGraph::type(g.onnx.trilu(x)), "float32[2, 6, 4]");
  const Values layer = g.onnx.layer_normalization_n(3, x, scale, scale, {.axis = -1});
  EXPECT_EQ(TestGraph::type(layer[0]), "float32[2, 6, 4]");
  EXPECT_EQ(TestGraph::type(layer[2]), "float32[2, 6, 1]");
  EXPECT_EQ(TestGraph::type(g.onnx.rms_normalization(x, scale)), "float32[2, 6, 4]");
  const Value group = g.onnx.group_normalization(x, channels, channels, {.num_groups = 3});
  EXPECT_EQ(TestGraph::type(group), "float32[2, 6, 4]");
  EXPECT_EQ(refused([&] { g.onnx.grid_sample(x, x); }), "SX1504");
}

TEST(SpelledOut, OneNodeWhereTheTargetHasIt) {
  TestGraph g(24);
  const Value x = g.input("x", {2, 6, 4}), channels = g.input("channels", {6});
  g.onnx.gelu(x);
  g.onnx.swish(x);
  g.onnx.group_normalization(x, channels, channels, {.num_groups = 3});
  EXPECT_EQ(g.ops(), "Gelu Sigmoid Mul GroupNormalization");  // ONNX Runtime has no Swish
}

// --- kernel types

TEST(KernelTypes, CastsRoundWhatHasNoKernel) {
  TestGraph g;
  const Value x = g.input("x", {2, 3}, DType::kBFloat16);
  EXPECT_EQ(TestGraph::type(g.onnx.tanh(x)), "bfloat16[2, 3]");
  EXPECT_EQ(g.ops(), "Cast Tanh Cast");
  g.onnx.exp(x);  // the cast up is shared
  EXPECT_EQ(g.ops(), "Cast Tanh Cast Exp Cast");
}

TEST(KernelTypes, ChainsStayInTheWiderType) {
  // bfloat16 rounds between two operators, so that both casts stay there.
  TestGraph g;
  const Value x = g.input("x", {2}, DType::kBFloat16);
  g.onnx.exp(g.onnx.tanh(x));
  EXPECT_EQ(g.ops(), "Cast Tanh Cast Cast Exp Cast");
}

TEST(KernelTypes, Float16IsLeftToTheRuntimeWhereItIsStandard) {
  TestGraph g;
  const Value x = g.input("x", {2}, DType::kFloat16);
  g.onnx.sin(x);
  EXPECT_EQ(g.ops(), "Sin");
  g.onnx.celu(x);  // float32 only, by the standard
  EXPECT_EQ(g.ops(), "Sin Cast Celu Cast");
}

TEST(KernelTypes, IntegersGoToWiderOnes) {
  TestGraph g(13);
  const Value x = g.input("x", {2}, DType::kInt8), u = g.input("u", {2}, DType::kUInt64);
  EXPECT_EQ(TestGraph::type(g.onnx.add(x, x)), "int8[2]");
  EXPECT_EQ(g.ops(), "Cast Add Cast");
  const Value c = g.input("c", {2}, DType::kBool);
  EXPECT_EQ(TestGraph::type(g.onnx.where(c, u, u)), "uint64[2]");
  EXPECT_EQ(TestGraph::type(g.onnx.where(c, c, c)), "bool[2]");
  EXPECT_EQ(refused([&] { g.onnx.sin(x); }), "SX1503");
}

TEST(KernelTypes, DoubleInFloatIsNoted) {
  TestGraph g;
  const Value x = g.input("x", {2}, DType::kFloat64);
  const Value y = g.onnx.hardmax(x);
  EXPECT_EQ(TestGraph::type(y), "float64[2]");
  const Node* hardmax = y->producer->input(0)->producer;
  ASSERT_EQ(hardmax->metadata.size(), 1U);
  EXPECT_EQ(hardmax->metadata[0].second, "float32");
  EXPECT_EQ(TestGraph::type(g.onnx.exp(x)->producer->input(0)), "float64[2]");
}

TEST(KernelTypes, RefusesWhatNoTypeCanStandInFor) {
  TestGraph g;
  const Value u = g.input("u", {2, 2}, DType::kUInt64);
  EXPECT_EQ(refused([&] { g.onnx.reduce_max(u); }), "SX1505");
  EXPECT_EQ(refused([&] { g.onnx.gemm(u, u); }), "SX1505");
}

TEST(KernelTypes, NonZeroAsksForTheTruth) {
  TestGraph g;
  const Value x = g.input("x", {2}, DType::kFloat64);
  EXPECT_EQ(g.onnx.nonzero(x)->producer->input(0)->dtype, DType::kBool);
}

TEST(KernelTypes, ElementaryFunctionsStayInDouble) {
  TestGraph g;
  const Value x = g.input("x", {2}, DType::kFloat64);
  EXPECT_EQ(g.onnx.tan(x)->producer->op_type, "Div");
  g.onnx.erf(x);
  for (const Node* node = g.model.graph->first; node != nullptr; node = node->next)
    EXPECT_NE(node->op_type, "Cast");
}

TEST(KernelTypes, TypesThatAnAttributeAsksFor) {
  TestGraph g;
  const Value x = g.input("x", {3, 3}, DType::kBFloat16);
  EXPECT_EQ(TestGraph::type(g.onnx.eye_like(x, {.dtype = DType::kBool})), "bool[3, 3]");
  EXPECT_EQ(TestGraph::type(g.onnx.eye_like(x)), "bfloat16[3, 3]");
  EXPECT_EQ(TestGraph::type(g.onnx.random_normal_like(x)), "bfloat16[3, 3]");
  for (const Node* node = g.model.graph->first; node != nullptr; node = node->next) {
    if (node->op_type != "EyeLike" && node->op_type != "RandomNormalLike") continue;
    EXPECT_NE(static_cast<DType>(node->int_or("dtype", 1)), DType::kBFloat16);
  }
  TestGraph old(13);
  const Expr n = old.pool->symbol("n");
  old.input("y", {n});
  const Expr shape[] = {n};
  EXPECT_EQ(TestGraph::type(old.onnx.full(shape, old.onnx.scalar(2, DType::kBFloat16))),
            "bfloat16[n]");
  EXPECT_EQ(old.ops(), "Shape ConstantOfShape Cast");
}

TEST(KernelTypes, TheStandardAloneNeedsFewerCasts) {
  TestGraph g(20, TargetRuntime::kStandard);
  g.onnx.tanh(g.input("x", {2}, DType::kBFloat16));
  g.onnx.erf(g.input("y", {2}, DType::kFloat64));
  EXPECT_EQ(g.ops(), "Tanh Erf");
}

}  // namespace
}  // namespace sardonyx::onnx
