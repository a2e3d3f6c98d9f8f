#include "passes/rules/reshape/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;
using symbolic::Expr;

struct TransposeInsideReshapes : RulesTest {
  const Expr heads = 12, size = 64;

  // [batch * heads, length, size] turned and parted again.
  Value turned(Value x, const onnx::Shape& parted) {
    const Value joined = onnx.reshape(x, {b * heads, s, size});
    return onnx.reshape(onnx.transpose(joined, {0, 2, 1}), parted);
  }
};

TEST_F(TransposeInsideReshapes, KeysAreTurnedHeadByHead) {
  const Value x = onnx.exp(input("x", {b, 12, s, 64}));
  outputs({onnx.neg(turned(x, {b, 12, 64, s}))});
  EXPECT_TRUE(run(kTransposeInsideReshapes));
  EXPECT_EQ(ops().find("Reshape"), std::string::npos);
  const onnx::Node* transpose = model.graph->last->input(0)->producer;
  EXPECT_EQ(*transpose->ints("perm"), (std::vector<std::int64_t>{0, 1, 3, 2}));
  EXPECT_EQ(type(transpose->output()), "float32[b, 12, 64, s]");
}

TEST_F(TransposeInsideReshapes, WhatIsPartedOtherwiseIsReshapedOnce) {
  const Value x = onnx.exp(input("x", {b, 4, 3, s, 64}));
  outputs({onnx.neg(turned(x, {b, 12, 64, s}))});
  EXPECT_TRUE(run(kTransposeInsideReshapes));
  const onnx::Node* transpose = model.graph->last->input(0)->producer;
  EXPECT_EQ(*transpose->ints("perm"), (std::vector<std::int64_t>{0, 1, 3, 2}));
  EXPECT_TRUE(transpose->input(0)->producer->is(onnx::Op::kReshape));
  EXPECT_EQ(type(transpose->input(0)), "float32[b, 12, s, 64]");
}

TEST_F(TransposeInsideReshapes, AxesThatAreJoinedBehindItStayApart) {
  // Windows of an image: what lies side by side afterwards did not before.
  const Value x = onnx.exp(input("x", {b, 14, 14, 8}));
  const Value parted = onnx.reshape(x, {b, 2, 7, 2, 7, 8});
  const Value turned = onnx.transpose(parted, {0, 1, 3, 2, 4, 5});
  outputs({onnx.neg(onnx.reshape(turned, {b * Expr(4), 7, 7, 8}))});
  EXPECT_FALSE(run(kTransposeInsideReshapes));
}

TEST_F(TransposeInsideReshapes, WhatElseReadsIsKept) {
  const Value x = onnx.exp(input("x", {b, 12, s, 64}));
  const Value y = turned(x, {b, 12, 64, s});
  outputs({onnx.neg(y), onnx.exp(y->producer->input(0))});
  EXPECT_FALSE(run(kTransposeInsideReshapes));
  EXPECT_EQ(reason(), "something else reads the axes that are joined");
}

}  // namespace
}  // namespace sardonyx::passes
