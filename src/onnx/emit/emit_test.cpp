#include "onnx/emit/emit.h"

#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "onnx/emit/emit_test_graph.h"

namespace sardonyx::onnx {
namespace {

class EmitTest : public testing::Test, public TestGraph {
 protected:
  Expr b = pool->symbol("b"), s = pool->symbol("s");

  static std::string code_of(const auto& action) {
    try {
      action();
    } catch (const base::Error& error) {
      return error.diagnostics().front().code;
    }
    return "";
  }
};

TEST_F(EmitTest, InfersAndNames) {
  onnx.set_origin(nullptr, "linear_3");
  const Value x = input("x", {b, 4}), w = input("w", {4, 5});
  const Value y = onnx.matmul(x, w);
  EXPECT_EQ(type(y), "float32[b, 5]");
  EXPECT_EQ(y->name, "linear_3_MatMul");
  EXPECT_EQ(y->producer->name, "node_linear_3_MatMul");
  EXPECT_EQ(x->uses.size(), 1U);
  EXPECT_EQ(type(onnx.equal(y, y)), "bool[b, 5]");
  EXPECT_EQ(model.ir_version, ir_version_of(newest_opset()));
  EXPECT_EQ(model.opsets[""], newest_opset());
}

TEST_F(EmitTest, EqualNodesAreShared) {
  const Value x = input("x", {b, 4});
  EXPECT_EQ(onnx.sin(x), onnx.sin(x));
  EXPECT_EQ(onnx.softmax(x, {.axis = -1}), onnx.softmax(x));  // the default, left out
  EXPECT_NE(onnx.softmax(x, {.axis = 0}), onnx.softmax(x));
  EXPECT_NE(onnx.random_normal_like(x), onnx.random_normal_like(x));
  EXPECT_NE(onnx.identity(x), onnx.identity(x));
}

TEST_F(EmitTest, RefusesWhatDoesNotFit) {
  const Value x = input("x", {2, 3}), i = input("i", {2, 3}, DType::kInt64);
  EXPECT_EQ(code_of([&] { onnx.add(x, i); }), "SX1503");
  EXPECT_EQ(code_of([&] { onnx.add(x, Value()); }), "SX1503");
  EXPECT_EQ(code_of([&] { onnx.sin(i); }), "SX1503");
  EXPECT_EQ(code_of([&] { onnx.matmul(x, x); }), "SX1503");
  EXPECT_EQ(code_of([&] { onnx.node("", "Cast", {{x}}, {}, 1); }), "SX1503");
  EXPECT_EQ(ops(), "");
  EXPECT_TRUE(x->uses.empty());
}

TEST_F(EmitTest, IdentitiesGiveTheValueItself) {
  const Value x = input("x", {b, s, 4});
  EXPECT_EQ(onnx.cast(x, DType::kFloat32), x);
  EXPECT_EQ(onnx.transpose(x, {0, 1, 2}), x);
  EXPECT_EQ(onnx.swap_axes(onnx.swap_axes(x, 1, 2), 1, 2), x);
  EXPECT_EQ(onnx.mul(x, onnx.one(DType::kFloat32)), x);
  EXPECT_EQ(onnx.sub(x, onnx.zero(DType::kFloat32)), x);
  EXPECT_NE(onnx.add(x, onnx.zero(DType::kFloat32)), x);  // -0.0
  EXPECT_NE(onnx.mul(onnx.scalar_like(1, x), onnx.ints({1}) == x ? x : onnx.scalar_like(2, x)), x);
  EXPECT_EQ(onnx.concat({x}, 1), x);
  EXPECT_EQ(onnx.squeeze(onnx.unsqueeze(x, {1}), std::vector<std::int64_t>{1}), x);
  const Value wide = onnx.cast(x, DType::kFloat64);
  EXPECT_EQ(onnx.cast(wide, DType::kFloat32), x);
  const Value narrow = onnx.cast(x, DType::kFloat16);
  EXPECT_NE(onnx.cast(narrow, DType::kFloat32), x);
  EXPECT_EQ(onnx.not_(onnx.not_(onnx.equal(x, x))), onnx.equal(x, x));
}

TEST_F(EmitTest, UnsqueezesInARowAreOne) {
  const Value x = input("x", {b, 4});
  const Value y = onnx.unsqueeze(onnx.unsqueeze(x, {0, 2}), {1, 5});
  EXPECT_EQ(type(y), "float32[1, 1, b, 1, 4, 1]");
  EXPECT_EQ(y->producer->input(0), x.info());
  EXPECT_EQ(Value(y->producer->input(1)).ints(), (std::vector<std::int64_t>{0, 1, 3, 5}));
}

TEST_F(EmitTest, BodiesHandOutTheirOwn) {
  const Value x = input("x", {b}), c = input("c", {}, DType::kBool);
  Graph* then_branch = onnx.begin_body("then");
  onnx.end_body({{x}});
  Graph* else_branch = onnx.begin_body("else");
  const Value y = onnx.neg(x);
  onnx.end_body({{y}});
  EXPECT_EQ(ops(then_branch), "Identity");
  EXPECT_EQ(ops(else_branch), "Neg");
  const Values z = onnx.if_(c, then_branch, else_branch);
  EXPECT_EQ(type(z.at(0)), "float32[b]");
  EXPECT_EQ(ops(), "If");
}

TEST_F(EmitTest, LoopTypesComeFromTheBody) {
  const Value x = input("x", {b});
  Graph* body = onnx.begin_body("body");
  onnx.body_input("i", DType::kInt64, {});
  const Value go = onnx.body_input("go", DType::kBool, {});
  const Value carried = onnx.body_input("carried", DType::kFloat32, {b});
  const Value next = onnx.add(carried, x);
  onnx.end_body({{go, next, next}});
  const Values out = onnx.loop(onnx.int_scalar(3), {}, {{x}}, body);
  ASSERT_EQ(out.size(), 2U);
  EXPECT_EQ(type(out[0]), "float32[b]");
  EXPECT_EQ(type(out[1]), "float32[?, ?]");
}

TEST_F(EmitTest, OtherDomainsAreDeclaredByTheirTranslator) {
  const Value x = input("x", {2});
  const Values y = onnx.node("com.example", "Thing", {{x}}, {}, 2);
  Emit::set_type(y[0], DType::kInt8, {7});
  EXPECT_EQ(type(y[0]), "int8[7]");
  EXPECT_EQ(model.opsets["com.example"], 1);
}

}  // namespace
}  // namespace sardonyx::onnx
