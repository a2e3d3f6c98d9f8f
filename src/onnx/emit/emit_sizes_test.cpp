#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "onnx/emit/emit_state.h"
#include "onnx/emit/emit_test_graph.h"

namespace sardonyx::onnx {
namespace {

using Elements = std::vector<std::int64_t>;

class SizesTest : public testing::Test, public TestGraph {
 protected:
  Expr b = pool->symbol("b"), s = pool->symbol("s"), u = pool->symbol("u0");

  SizesTest() { pool->mark_unbacked(u); }
};

TEST_F(SizesTest, ConstantsNeedNoNode) {
  EXPECT_EQ(onnx.size(3).ints(), Elements{3});
  EXPECT_TRUE(onnx.size(3).is_scalar());
  EXPECT_EQ(onnx.sizes({2, Expr(3)}).ints(), (Elements{2, 3}));
  const Value x = input("x", {2, 3});
  EXPECT_EQ(onnx.shape_of(x).ints(), (Elements{2, 3}));
  EXPECT_EQ(onnx.shape(x, {.start = 1}).ints(), Elements{3});
  EXPECT_EQ(ops(), "");
}

TEST_F(SizesTest, ReadsADimOnce) {
  input("x", {b, s, 8});
  const Value size = onnx.sizes({b});
  EXPECT_EQ(onnx.sizes({b}), size);
  EXPECT_EQ(ops(), "Shape");
  EXPECT_EQ(size->contents, std::vector<Expr>{b});
  EXPECT_TRUE(onnx.size(b).is_scalar());
  EXPECT_EQ(ops(), "Shape Squeeze");
}

TEST_F(SizesTest, NeighborsAreReadTogether) {
  input("mask", {b, s});
  input("x", {4, s, b, 8});
  onnx.sizes({b, s, 3});
  EXPECT_EQ(ops(), "Shape Concat");
  onnx.sizes({s, b});
  EXPECT_EQ(ops(), "Shape Concat Shape Shape Concat");  // no source holds them in this order
}

TEST_F(SizesTest, ComputesAndSolves) {
  input("x", {2 * b + 1, 4});
  EXPECT_TRUE(onnx.can_size(b));
  EXPECT_FALSE(onnx.can_size(s));
  onnx.sizes({b});
  EXPECT_EQ(ops(), "Shape Sub Div");
  onnx.sizes({3 * b});
  EXPECT_EQ(ops(), "Shape Sub Div Mul");
  EXPECT_THROW(onnx.size(s), base::Error);
  EXPECT_THROW(onnx.sizes({s + b}), base::Error);
}

TEST_F(SizesTest, SourcesThatNeedEachOtherDoNotHang) {
  input("x", {b + s});
  EXPECT_FALSE(onnx.can_size(b));
  input("y", {b + 2 * s});
  EXPECT_FALSE(onnx.can_size(s));
  input("z", {s});
  EXPECT_TRUE(onnx.can_size(b));
}

TEST_F(SizesTest, FloorDivisionOfWhatMayBeNegative) {
  input("x", {b, s});
  onnx.sizes({symbolic::floor_div(b, 2)});
  EXPECT_EQ(ops(), "Shape Div");
  onnx.sizes({symbolic::floor_div(b - s, 3)});
  EXPECT_EQ(ops(), "Shape Div Shape Sub Mod Sub Div");
}

TEST_F(SizesTest, ScalarsAreSources) {
  const Value n = input("n", {}, DType::kInt64);
  onnx.add_size_source(n, u);
  EXPECT_EQ(onnx.size(u), n);
  onnx.sizes({u});
  EXPECT_EQ(ops(), "Reshape");
}

TEST_F(SizesTest, FloatsAndConditions) {
  input("x", {b});
  const Value root = onnx.real_size(
      symbolic::apply(symbolic::Kind::kSqrt, {symbolic::apply(symbolic::Kind::kToFloat, {b})}),
      DType::kFloat32);
  EXPECT_EQ(type(root), "float32[]");
  EXPECT_EQ(ops(), "Shape Cast Sqrt Squeeze Cast");
  const Value less = onnx.condition(symbolic::apply(symbolic::Kind::kLt, {b, 7}));
  EXPECT_EQ(type(less), "bool[]");
}

// --- reshaping with symbolic sizes

TEST_F(SizesTest, ReshapeUsesZeroAndMinusOne) {
  const Value x = input("x", {b, s, 12});
  const Value heads = onnx.reshape(x, {b, s, 3, 4});
  EXPECT_EQ(ops(), "Reshape");
  EXPECT_EQ(Value(heads->producer->input(1)).ints(), (Elements{0, 0, 3, 4}));
  const Value flat = onnx.reshape(x, {b * s, 12});
  EXPECT_EQ(Value(flat->producer->input(1)).ints(), (Elements{-1, 12}));
  EXPECT_EQ(type(flat), "float32[b*s, 12]");
  EXPECT_EQ(onnx.reshape(x, {b, s, 12}), x);
  EXPECT_EQ(onnx.reshape(heads, {b, s, 12}), x);  // looks through what only reshaped
}

TEST_F(SizesTest, ReshapeReadsASizeWhereItMust) {
  const Value x = input("x", {b + 1, s + 1, 12});
  const Value y = onnx.reshape(x, {s + 1, b + 1, 12});
  EXPECT_EQ(type(y), "float32[s + 1, b + 1, 12]");
  EXPECT_EQ(ops(), "Shape Concat Reshape");
}

TEST_F(SizesTest, ReshapeReadsNoZeroAsACopy) {
  const Value x = input("x", {b, s, 12});
  const Value y = onnx.reshape(x, {s, b, 12});
  EXPECT_EQ(ops(), "Shape Shape Concat Reshape");
  EXPECT_EQ(int_attribute(y->producer->attributes, "allowzero", 0), 1);
}

TEST_F(SizesTest, ReshapeOfWhatMayBeEmptyHasNoMinusOne) {
  const Value x = input("x", {u, s * 2});
  const Value y = onnx.reshape(x, {u, s, 2});
  EXPECT_EQ(y->producer->input(1)->constant, nullptr);
  const Value z = onnx.reshape(x, {u * s, 2});
  EXPECT_EQ(Value(z->producer->input(1)).ints(), (Elements{-1, 2}));
}

TEST_F(SizesTest, ReshapeToZeroSizes) {
  const Value x = input("x", {2, 0});
  const Value y = onnx.reshape(x, {0, 5});
  EXPECT_EQ(type(y), "float32[0, 5]");
  EXPECT_TRUE(y.is_constant());  // it has no element
}

TEST_F(SizesTest, ExpandLeavesDimsAsTheyAre) {
  const Value x = input("x", {b, 1, s});
  const Expr shape[] = {b, 4, s};
  const Value y = onnx.expand(x, shape);
  EXPECT_EQ(ops(), "Expand");
  EXPECT_EQ(Value(y->producer->input(1)).ints(), (Elements{1, 4, 1}));
  EXPECT_EQ(type(y), "float32[b, 4, s]");
  EXPECT_EQ(onnx.expand(y, shape), y);
}

TEST_F(SizesTest, SliceToTheEndNeedsNoSize) {
  const Value x = input("x", {b, s});
  EXPECT_EQ(onnx.slice(x, 1, 0, s), x);
  const Value y = onnx.slice(x, 1, 1, s);
  EXPECT_EQ(ops(), "Slice");
  EXPECT_EQ(type(y), "float32[b, s - min(1, s)]");  // s may be 0
}

TEST_F(SizesTest, BodiesSeeOuterSizesButNotTheReverse) {
  input("x", {b, s});
  onnx.sizes({b});
  Graph* body = onnx.begin_body("body");
  onnx.sizes({b});
  onnx.sizes({s});
  const Value out = onnx.sizes({s});
  onnx.end_body({{out}});
  EXPECT_EQ(ops(body), "Shape");
  onnx.sizes({s});
  EXPECT_EQ(ops(), "Shape Shape");
}

}  // namespace
}  // namespace sardonyx::onnx
