#include "targets/opsets/downgrade.h"

#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "targets/lowering_test_graph.h"

namespace sardonyx::targets {
namespace {

using onnx::Node;
using onnx::Tensor;

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
    LoweringGraph g(opset);
    const Value x = g.input("x", {2, 3, 4});
    const Value y = g.onnx.reduce("ReduceMax", x, {{-1, 0}}, false);
    EXPECT_EQ(LoweringGraph::type(y), "float32[3]");
    const Node* node = y->producer;
    EXPECT_EQ(node->ints("axes") != nullptr, opset < 18);
    EXPECT_EQ(node->inputs.size(), opset < 18 ? 1U : 2U);
    EXPECT_EQ(g.onnx.reduce("ReduceSum", x, {{1}}, true)->producer->inputs.size(), 2U);
    EXPECT_EQ(LoweringGraph::type(g.onnx.reduce_mean(x)), "float32[1, 1, 1]");
  }
}

TEST(OpsetForms, ComputedAxes) {
  LoweringGraph g(13);
  const Value x = g.input("x", {2, 3}), axes = g.input("axes", {2}, DType::kInt64);
  EXPECT_EQ(g.onnx.reduce_l2(x, axes)->producer->op_type, "Sqrt");
  EXPECT_EQ(g.onnx.reduce_max(x, axes, {.keepdims = 1})->producer->op_type, "Reshape");
  EXPECT_EQ(g.onnx.reduce_max(x, axes, {.keepdims = 0})->producer->op_type, "Squeeze");
  // How many axes there are decides over what is emitted, and whether all are reduced.
  const Value some = g.input("some", {symbolic::Expr()}, DType::kInt64);
  EXPECT_EQ(refused([&] { g.onnx.reduce_max(x, some); }), "SX1504");
  EXPECT_EQ(refused([&] { g.onnx.reduce_l1(x, some, {.noop_with_empty_axes = 1}); }), "SX1504");
  EXPECT_EQ(
      LoweringGraph::type(g.onnx.pad(x, g.onnx.ints({1, 2}), {}, g.input("a", {1}, DType::kInt64))),
      "float32[?, ?]");
}

TEST(OpsetForms, SplitKnowsHowManyPieces) {
  LoweringGraph old(13), recent(20);
  for (LoweringGraph* g : {&old, &recent}) {
    const Value x = g->input("x", {7, 6});
    const Values even = g->onnx.split(3, x, {}, {.axis = 1});
    EXPECT_EQ(LoweringGraph::type(even[2]), "float32[7, 2]");
    const Values uneven = g->onnx.split(3, x);
    EXPECT_EQ(LoweringGraph::type(uneven[0]), "float32[3, 6]");
    EXPECT_EQ(LoweringGraph::type(uneven[2]), "float32[1, 6]");
    const Values given = g->onnx.split(2, x, g->onnx.ints({5, 2}), {.num_outputs = 2});
    EXPECT_EQ(LoweringGraph::type(given[0]), "float32[5, 6]");
  }
}

TEST(OpsetForms, PadsOfSomeAxes) {
  LoweringGraph g(13);
  const Value x = g.input("x", {2, 3, 4});
  const Value y = g.onnx.pad(x, g.onnx.ints({1, 2}), {}, g.onnx.ints({-1}));
  EXPECT_EQ(LoweringGraph::type(y), "float32[2, 3, 7]");
  EXPECT_EQ(Value(y->producer->input(1)).ints(), (Elements{0, 0, 1, 0, 0, 2}));
}

TEST(OpsetForms, ResizeOfSomeAxes) {
  LoweringGraph g(13);
  const Value x = g.input("x", {2, 3, 4, 5});
  const Value scales = g.onnx.constant(Tensor::filled(DType::kFloat32, {2}, 2));
  const Value y = g.onnx.resize(x, {}, scales, {}, {.axes = {2, 3}, .mode = "linear"});
  EXPECT_EQ(LoweringGraph::type(y), "float32[2, 3, 8, 10]");
  const Value z = g.onnx.resize(x, {}, {}, g.onnx.ints({7, 9}), {.axes = {2, 3}});
  EXPECT_EQ(LoweringGraph::type(z), "float32[2, 3, 7, 9]");
  // A filter that counts what is outside is no definition's.
  EXPECT_EQ(refused([&] { g.onnx.resize(x, {}, scales, {}, {.antialias = 1}); }), "SX1504");
}

TEST(OpsetForms, BatchNormalizationThatTrains) {
  for (const std::int64_t opset : {13, 14}) {
    LoweringGraph g(opset);
    const Value x = g.input("x", {2, 3, 4}), c = g.input("c", {3});
    const Values y = g.onnx.batch_normalization_n(3, x, c, c, c, c, {.training_mode = 1});
    EXPECT_EQ(LoweringGraph::type(y[0]), "float32[2, 3, 4]");
    EXPECT_EQ(LoweringGraph::type(y[2]), "float32[3]");
    EXPECT_EQ(g.ops() == "BatchNormalization", opset == 14);
  }
}

TEST(OpsetForms, ModesOfGridSample) {
  LoweringGraph old(16), recent(20);
  const Value x = old.input("x", {1, 2, 3, 4}), grid = old.input("grid", {1, 5, 6, 2});
  const Value y = old.onnx.grid_sample(x, grid, {.mode = "cubic"});
  EXPECT_EQ(y->producer->string_or("mode", ""), "bicubic");
  EXPECT_EQ(old.onnx.grid_sample(x, grid)->producer->find("mode"), nullptr);  // the old default
  EXPECT_EQ(LoweringGraph::type(y), "float32[1, 2, 5, 6]");
  const Value v = old.input("v", {1, 2, 3, 4, 5}), g3 = old.input("g3", {1, 5, 6, 7, 3});
  const Value read = old.onnx.grid_sample(v, g3);  // by its definition: there are no volumes
  EXPECT_FALSE(read->producer->is("GridSample"));
  EXPECT_EQ(LoweringGraph::type(read), "float32[1, 2, 5, 6, 7]");
}

TEST(OpsetForms, DilatedMeans) {
  for (const std::int64_t opset : {13, 19}) {
    LoweringGraph g(opset);
    const Value x = g.input("x", {1, 2, 9});
    const Value y = g.onnx.average_pool(
        x, {.count_include_pad = 1, .dilations = {2}, .kernel_shape = {3}, .pads = {1, 1}});
    EXPECT_EQ(LoweringGraph::type(y), "float32[1, 2, 7]");
    EXPECT_EQ(y->producer->is("AveragePool"), opset >= 19);
  }
}

TEST(OpsetForms, WindowsThatCeilModeLeavesOut) {
  for (const std::int64_t opset : {13, 22}) {
    LoweringGraph g(opset);
    const Value x = g.input("x", {1, 1, 6, 7});
    const Value y = g.onnx.max_pool(x, {.ceil_mode = 1, .kernel_shape = {1, 2}, .strides = {3, 3}});
    EXPECT_EQ(LoweringGraph::type(y), "float32[1, 1, 2, 3]");
    EXPECT_EQ(y->producer->int_or("ceil_mode", 0), opset < 22 ? 0 : 1);
    const auto* pads = y->producer->ints("pads");
    if (opset < 22) {
      EXPECT_EQ(*pads, (Elements{0, 0, 0, 1}));
    }
  }
}

TEST(OpsetForms, WindowsOfAnySize) {
  LoweringGraph g(13);
  const Value size = g.input("size", {}, DType::kInt64);
  const Value window = g.onnx.hann_window(size, {.periodic = 0});
  EXPECT_EQ(window.dtype(), DType::kFloat32);
  EXPECT_EQ(window.rank(), 1);
  EXPECT_EQ(g.onnx.blackman_window(size).rank(), 1);
}

TEST(OpsetForms, BitsOfIntegers) {
  LoweringGraph g(13);
  const Value x = g.input("x", {3}, DType::kInt32);
  EXPECT_TRUE(g.onnx.bit_cast(x, {.to = DType::kUInt32})->producer->is("Cast"));
  EXPECT_EQ(refused([&] { g.onnx.bit_cast(x, {.to = DType::kFloat32}); }), "SX1504");
}

TEST(OpsetForms, BeforeOpset13AxesAreAttributes) {
  LoweringGraph g(12);
  const Value x = g.input("x", {1, 3, 4});
  EXPECT_NE(g.onnx.squeeze(x, {0})->producer->ints("axes"), nullptr);
  EXPECT_NE(g.onnx.unsqueeze(x, {0})->producer->ints("axes"), nullptr);
  EXPECT_NE(g.onnx.reduce("ReduceSum", x, {{1}}, true)->producer->ints("axes"), nullptr);
  const Value sizes = g.onnx.ints({1, 2});
  EXPECT_NE(g.onnx.split(2, x, sizes, {.axis = 1})[0]->producer->ints("split"), nullptr);
  const Value axes = g.input("axes", {1}, DType::kInt64);
  EXPECT_EQ(refused([&] { g.onnx.Operators::squeeze(x, axes); }), "SX1504");
}

TEST(OpsetForms, BeforeOpset13SoftmaxIsOfAllAxesFromOneOn) {
  LoweringGraph g(11);
  const Expr b = g.pool->symbol("b");
  g.onnx.softmax(g.input("x", {b, 3, 4}), {.axis = -1});
  g.onnx.softmax(g.input("y", {b, 3, 1}), {.axis = 1});
  EXPECT_EQ(g.ops(), "Softmax Softmax");
  g.onnx.softmax(g.input("z", {b, 3, 4}), {.axis = 1});
  EXPECT_EQ(g.ops(), "Softmax Softmax Transpose Softmax Transpose");
}

TEST(OpsetForms, BeforeOpset12ComparisonsAreTwo) {
  LoweringGraph g(11);
  const Value x = g.input("x", {3});
  g.onnx.greater_or_equal(x, g.input("y", {3}));
  EXPECT_EQ(g.ops(), "Greater Equal Or");
}

TEST(OpsetForms, AxisOfDft) {
  for (const std::int64_t opset : {17, 20}) {
    LoweringGraph g(opset);
    const Value x = g.input("x", {2, 8, 5, 1});
    const Value y = g.onnx.dft(x, {}, g.onnx.int_scalar(1), {.onesided = 1});
    EXPECT_EQ(LoweringGraph::type(y), "float32[2, 5, 5, 2]");
    EXPECT_EQ(LoweringGraph::type(g.onnx.dft(x, {}, {}, {.onesided = 1})), "float32[2, 8, 3, 2]");
  }
}

TEST(OpsetForms, PartOfAShape) {
  LoweringGraph g(13);
  const Expr b = g.pool->symbol("b");
  const Value x = g.input("x", {b, 3, b});
  EXPECT_EQ(g.onnx.shape(x, {.end = 2, .start = 1}).ints(), Elements{3});
  EXPECT_EQ(g.onnx.shape(x, {.end = 1})->contents, std::vector<Expr>{b});
}

TEST(OpsetForms, BeforeOpset15ShapeIsWhole) {
  LoweringGraph old(13);
  const Expr n = old.pool->symbol("n");
  old.input("x", {n, 3, n + 1});
  old.onnx.sizes({n});
  EXPECT_EQ(old.ops(), "Shape Gather");
  old.onnx.sizes({n + 1});
  EXPECT_EQ(old.ops(), "Shape Gather Gather");
}

TEST(OpsetForms, ReshapeOfNothing) {
  LoweringGraph old(13);
  EXPECT_EQ(LoweringGraph::type(old.onnx.reshape(old.input("x", {2, 0}), {0, 5})), "float32[0, 5]");
  EXPECT_EQ(old.ops(), "");
}

TEST(OpsetForms, ReshapeToSizesThatAreRead) {
  LoweringGraph old(13);
  const Expr n = old.pool->symbol("n"), m = old.pool->symbol("m");
  const Value y = old.onnx.reshape(old.input("x", {n, m, 2}), {m, n, 2});
  EXPECT_EQ(LoweringGraph::type(y), "float32[m, n, 2]");
  EXPECT_TRUE(old.ops().ends_with("Reshape"));
}

TEST(OpsetForms, RefusesWhatTheOpsetLacks) {
  LoweringGraph old(13);
  const Value x = old.input("x", {2, 3});
  EXPECT_EQ(refused([&] { old.onnx.deform_conv(x, x, x); }), "SX1504");
  EXPECT_EQ(refused([&] { old.onnx.cast(x, DType::kBFloat16); }), "");
  EXPECT_EQ(refused([&] { old.onnx.string_concat(x, x); }), "SX1504");
  EXPECT_EQ(LoweringGraph::type(old.onnx.dft(old.input("signal", {2, 3, 1}))), "float32[2, 3, 2]");
  const Value i = old.input("i", {2, 3}, DType::kInt64);
  EXPECT_EQ(refused([&] { old.onnx.scatter_elements(x, i, x, {.reduction = "add"}); }), "");
  EXPECT_EQ(refused([&] { old.onnx.scatter_elements(x, i, x, {.reduction = "none"}); }), "");
}

TEST(SpelledOut, NewerFunctionsByOlderOperators) {
  LoweringGraph g(13);
  const Value x = g.input("x", {2, 6, 4}), scale = g.input("scale", {4});
  const Value channels = g.input("channels", {6});
  EXPECT_EQ(LoweringGraph::type(g.onnx.gelu(x)), "float32[2, 6, 4]");
  EXPECT_EQ(LoweringGraph::type(g.onnx.gelu(x, {.approximate = "tanh"})), "float32[2, 6, 4]");
  EXPECT_EQ(LoweringGraph::type(g.onnx.hard_swish(x)), "float32[2, 6, 4]");
  EXPECT_EQ(LoweringGraph::type(g.onnx.mish(x)), "float32[2, 6, 4]");
  EXPECT_EQ(LoweringGraph::type(g.onnx.swish(x)), "float32[2, 6, 4]");
  EXPECT_EQ(LoweringGraph::type(g.onnx.trilu(x)), "float32[2, 6, 4]");
  const Values layer = g.onnx.layer_normalization_n(3, x, scale, scale, {.axis = -1});
  EXPECT_EQ(LoweringGraph::type(layer[0]), "float32[2, 6, 4]");
  EXPECT_EQ(LoweringGraph::type(layer[2]), "float32[2, 6, 1]");
  EXPECT_EQ(LoweringGraph::type(g.onnx.rms_normalization(x, scale)), "float32[2, 6, 4]");
  const Value group = g.onnx.group_normalization(x, channels, channels, {.num_groups = 3});
  EXPECT_EQ(LoweringGraph::type(group), "float32[2, 6, 4]");
  EXPECT_EQ(refused([&] { g.onnx.dft(x); }), "SX1504");
}

TEST(SpelledOut, OneNodeWhereTheTargetHasIt) {
  LoweringGraph standard(24, "standard"), runtime(24);
  for (LoweringGraph* g : {&standard, &runtime}) {
    const Value x = g->input("x", {2, 6, 4}), channels = g->input("channels", {6});
    g->onnx.gelu(x);
    g->onnx.swish(x);
    g->onnx.group_normalization(x, channels, channels, {.num_groups = 3});
  }
  EXPECT_EQ(standard.ops(), "Gelu Swish GroupNormalization");
  // ONNX Runtime has no Swish, and a row says what it does with GroupNormalization.
  EXPECT_TRUE(runtime.ops().starts_with("Gelu Sigmoid Mul Reshape InstanceNormalization"));
}

// --- kernel types

}  // namespace
}  // namespace sardonyx::targets
