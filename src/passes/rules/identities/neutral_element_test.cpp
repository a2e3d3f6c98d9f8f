#include "onnx/infer/infer.h"
#include "passes/rules/identities/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;

const Options kForeign{.stop_after = {}, .infer_types = true, .limits = {}};

struct NeutralElement : RulesTest {
  // As files have it: the emitter would have seen that nothing is to be done.
  Value combined(const char* op, Value x, Value y) {
    onnx::Node* node = model.add_node(op, "");
    onnx::add_input(node, x.info());
    onnx::add_input(node, y.info());
    onnx::append(model.graph, node);
    onnx::add_output(node, model.add_value("made"));
    onnx::infer(node, *pool, onnx::newest_opset());
    return node->output();
  }
  Value made = onnx.exp(input("x", {b, 3, s}));
};

TEST_F(NeutralElement, OnesAndZeros) {
  const Value ones = weight("ones", {3, 1}, {1, 1, 1}), zeros = weight("zeros", {1}, {0});
  Value y = combined("Mul", ones, made);
  y = combined("Add", y, zeros);
  y = combined("Sub", y, zeros);
  y = combined("Div", y, ones);
  outputs({onnx.neg(combined("Pow", y, weight("one", {}, {1})))});
  EXPECT_TRUE(run(kNeutralElement, kForeign)) << reason();
  EXPECT_EQ(ops(), "Exp Neg");
}

TEST_F(NeutralElement, WeightsOfAProgramStay) {
  outputs({onnx.neg(combined("Mul", made, weight("ones", {3, 1}, {1, 1, 1})))});
  EXPECT_FALSE(run(kNeutralElement));
  EXPECT_EQ(reason(), "its weight may yet get other data");
}

TEST_F(NeutralElement, WhatMakesItLargerStays) {
  outputs({onnx.neg(combined("Mul", made, weight("ones", {2, 1, 1, 1}, {1, 1}))),
           onnx.neg(combined("Add", onnx.exp(input("one", {1})), weight("none", {2}, {0, 0})))});
  EXPECT_FALSE(run(kNeutralElement, kForeign));
  EXPECT_EQ(reason(), "it may make its operand larger");
}

TEST_F(NeutralElement, OperandsInTheOtherOrderStay) {
  const Value zero = weight("zero", {}, {0}), one = weight("one", {}, {1});
  outputs({onnx.neg(combined("Sub", zero, made)), onnx.neg(combined("Div", one, made)),
           onnx.neg(combined("Pow", one, made)), onnx.neg(combined("Add", made, one))});
  EXPECT_FALSE(run(kNeutralElement, kForeign));
}

}  // namespace
}  // namespace sardonyx::passes
