#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "onnx/emit/emit_test_graph.h"
#include "onnx/infer/inference.h"

namespace sardonyx::onnx {
namespace {

class InferTest : public testing::Test, public TestGraph {
 protected:
  Expr b = pool->symbol("b"), s = pool->symbol("s");
};

TEST_F(InferTest, Broadcasting) {
  EXPECT_EQ(type(onnx.add(input("x", {b, 1, 4}), input("y", {s, 4}))), "float32[b, s, 4]");
  // Neither is known to be 1, nor to be the same.
  EXPECT_EQ(type(onnx.add(input("p", {b}), input("q", {s}))), "float32[?]");
  pool->constrain(b, {2, 64});
  EXPECT_EQ(type(onnx.sub(input("r", {b}), input("t", {s}))), "float32[b]");
}

TEST_F(InferTest, MatrixProducts) {
  const Value x = input("x", {b, 1, s, 4}), w = input("w", {3, 4, 5}), v = input("v", {4});
  EXPECT_EQ(type(onnx.matmul(x, w)), "float32[b, 3, s, 5]");
  EXPECT_EQ(type(onnx.matmul(x, v)), "float32[b, 1, s]");
  EXPECT_EQ(type(onnx.matmul(v, v)), "float32[]");
  EXPECT_EQ(type(onnx.einsum({x, w}, {.equation = "...ij, kjl -> ...kil"})),
            "float32[b, 1, 3, s, 5]");
}

TEST_F(InferTest, Windows) {
  const Value x = input("x", {b, 3, s, 32});
  const Value w = input("w", {8, 3, 3, 3});
  const Value y = onnx.conv(x, w, {}, {.pads = {1, 1, 1, 1}, .strides = {2, 2}});
  EXPECT_EQ(y.dim(2), symbolic::floor_div(s - 1, 2) + 1);
  EXPECT_EQ(y.dim(3), Expr(16));
  // The last window would start in the padding: it does not count.
  const Value z = onnx.max_pool(
      input("z", {1, 1, 3}), {.ceil_mode = 1, .kernel_shape = {1}, .pads = {0, 1}, .strides = {2}});
  EXPECT_EQ(z.dim(2), Expr(2));
}

TEST_F(InferTest, ShapeArithmeticIsFollowed) {
  const Value x = input("x", {b, s, 4});
  const Value shape = onnx.shape(x);
  const Value rows =
      onnx.mul(onnx.gather(shape, onnx.int_scalar(0)), onnx.gather(shape, onnx.int_scalar(1)));
  EXPECT_EQ(rows->contents, std::vector<Expr>{b * s});
  const Value target = onnx.concat({onnx.unsqueeze(rows, {0}), onnx.ints({-1})}, 0);
  EXPECT_EQ(type(onnx.Operators::reshape(x, target)), "float32[b*s, 4]");
  EXPECT_EQ(type(onnx.range(onnx.int_scalar(0), rows, onnx.int_scalar(1))), "int64[b*s]");
  EXPECT_EQ(onnx.slice(shape, onnx.ints({-1}), onnx.ints({100})).ints(),
            std::vector<std::int64_t>{4});
}

TEST_F(InferTest, ReshapeDividesOutTheRest) {
  const Value x = input("x", {b, 2 * s, 12});
  EXPECT_EQ(type(onnx.Operators::reshape(x, onnx.ints({0, -1, 24}))), "float32[b, s, 24]");
  EXPECT_THROW(onnx.Operators::reshape(input("y", {7}), onnx.ints({2, -1})), base::Error);
}

TEST_F(InferTest, RecurrentAndAttention) {
  const Value x = input("x", {s, b, 6});
  const Values out = onnx.lstm_n(3, x, input("w", {2, 40, 6}), input("r", {2, 40, 10}), {}, {}, {},
                                 {}, {}, {.direction = "bidirectional", .hidden_size = 10});
  EXPECT_EQ(type(out[0]), "float32[s, 2, b, 10]");
  EXPECT_EQ(type(out[2]), "float32[2, b, 10]");
  TestGraph g;
  const Expr n = g.pool->symbol("n");
  const Value q = g.input("q", {2, 8, n, 16}), k = g.input("k", {2, 2, n, 16});
  EXPECT_EQ(TestGraph::type(g.onnx.attention(q, k, k)), "float32[2, 8, n, 16]");
}

TEST_F(InferTest, SizesThatDependOnValuesAreUnknown) {
  const Value x = input("x", {b, 4});
  EXPECT_EQ(type(onnx.nonzero(x)), "int64[2, ?]");
  EXPECT_EQ(type(onnx.compress(x, input("c", {4}, DType::kBool), {.axis = 1})), "float32[b, ?]");
}

TEST_F(InferTest, BadNodesAreRefusedNotFollowed) {
  const Value x = input("x", {2, 3}), v = input("v", {3}), scalar = input("scalar", {});
  EXPECT_THROW(onnx.conv(x, x), base::Error);
  EXPECT_THROW(onnx.gemm(x, v), base::Error);
  EXPECT_THROW(onnx.matmul(x, scalar), base::Error);
  EXPECT_THROW(onnx.attention(x, x, x), base::Error);
  EXPECT_THROW(onnx.softmax(x, {.axis = 2}), base::Error);
  EXPECT_THROW(onnx.depth_to_space(input("d", {1, 4, 2, 2}), {.blocksize = 0}), base::Error);
  EXPECT_THROW(onnx.grid_sample(v, v), base::Error);
  EXPECT_THROW(onnx.roi_align(v, v, input("i", {3}, DType::kInt64)), base::Error);
  EXPECT_THROW(onnx.max_pool(input("p", {1, 1, 8}), {.kernel_shape = {2}, .strides = {0}}),
               base::Error);
  EXPECT_THROW(onnx.split(2, x, onnx.ints({1, 1, 1})), base::Error);
  EXPECT_THROW(onnx.concat({x, v}, 0), base::Error);
  EXPECT_THROW(onnx.Operators::transpose(x, {.perm = {0, 0}}), base::Error);
}

}  // namespace
}  // namespace sardonyx::onnx
