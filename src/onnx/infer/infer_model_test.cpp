#include "onnx/infer/infer_model.h"

#include <gtest/gtest.h>

#include "onnx/emit/emit_test_graph.h"
#include "onnx/gen/op.h"

namespace sardonyx::onnx {
namespace {

using symbolic::Expr;

class InferModelTest : public testing::Test, public TestGraph {
 protected:
  Expr b = pool->symbol("b");

  // A node as a file has it: nothing is inferred.
  ValueInfo* node(std::string op, std::vector<ValueInfo*> inputs, Graph* graph = nullptr,
                  std::vector<Attribute> attributes = {}) {
    Graph* const in = graph != nullptr ? graph : model.graph;
    Node* made = model.add_node(std::move(op), "");
    for (ValueInfo* each : inputs) add_input(made, each);
    made->attributes = std::move(attributes);
    append(in, made);
    add_output(made, model.add_value("y", in));
    return made->output();
  }
  static void declare(ValueInfo* value, DType dtype, Shape shape) {
    value->dtype = dtype;
    value->has_rank = true;
    value->shape = std::move(shape);
  }
  ValueInfo* ints(std::vector<std::int64_t> values) {
    const auto count = static_cast<std::int64_t>(values.size());
    return model.add_constant(Tensor::of_ints(values, {count}));
  }
};

TEST_F(InferModelTest, TypesAndSizesAreFollowed) {
  const Value x = input("x", {b, 4});
  ValueInfo* shape = node("Shape", {x.info()});
  ValueInfo* size = node("Gather", {shape, ints({0})});
  ValueInfo* target =
      node("Concat", {size, ints({2, 2})}, nullptr, {{"axis", std::int64_t{0}, {}}});
  ValueInfo* y = node("Reshape", {x.info(), target});
  set_outputs(model.graph, {y});
  EXPECT_TRUE(infer_types(model).empty());
  EXPECT_EQ(type(y), "float32[b, 2, 2]");
}

TEST_F(InferModelTest, AWrongDeclarationIsDisputedAndTheInterfaceStays) {
  const Value x = input("x", {b, 4});
  ValueInfo* y = node("Exp", {x.info()});
  ValueInfo* z = node("Neg", {y});
  declare(y, DType::kFloat32, {b, Expr(5)});
  declare(z, DType::kFloat32, {b, Expr(5)});
  set_outputs(model.graph, {z});
  const std::vector<TypeConflict> disputes = infer_types(model);
  ASSERT_EQ(disputes.size(), 2U);
  EXPECT_EQ(disputes[0].message, "'y' is declared float32[b, 5], but float32[b, 4]");
  EXPECT_TRUE(y->is_disputed);
  EXPECT_EQ(type(y), "float32[b, 4]");
  EXPECT_EQ(type(z), "float32[b, 5]");
}

// Files whose inputs were made dynamic afterwards.
TEST_F(InferModelTest, StaleDeclarationsDoNotCount) {
  const Value x = input("x", {b, 4});
  ValueInfo* y = x.info();
  std::vector<ValueInfo*> made;
  for (int i = 0; i < 4; ++i) {
    y = node("Exp", {y});
    declare(y, DType::kFloat32, {Expr(1), Expr(4)});
    made.push_back(y);
  }
  set_outputs(model.graph, {node("Neg", {y})});
  EXPECT_TRUE(infer_types(model).empty());
  for (const ValueInfo* each : made) EXPECT_FALSE(each->is_disputed);
  EXPECT_EQ(type(y), "float32[b, 4]");
}

TEST_F(InferModelTest, ANodeThatItsOperatorRefusesIsNoError) {
  const Value x = input("x", {2, 3});
  ValueInfo* y = node("MatMul", {x.info(), x.info()});
  ValueInfo* z = node("Add", {x.info(), nullptr});
  declare(y, DType::kFloat32, {2, 2});
  set_outputs(model.graph, {node("Neg", {y}), z});
  EXPECT_EQ(infer_types(model).size(), 2U);
  EXPECT_EQ(type(model.graph->outputs[0]), "float32[2, 2]");
}

TEST_F(InferModelTest, WhatLacksAnInputIsOfAnUnknownOperator) {
  const Value x = input("x", {2, 3});
  ValueInfo* sum = node("Add", {nullptr, x.info()});
  ValueInfo* resized = node("Resize", {x.info(), nullptr, ints({2})});
  set_outputs(model.graph, {sum, resized});
  const std::vector<TypeConflict> disputes = infer_types(model);
  ASSERT_FALSE(disputes.empty());
  EXPECT_EQ(disputes[0].message, "it lacks 'A', which its operator needs");
  EXPECT_EQ(sum->producer->op, kUnknownOp);
  EXPECT_EQ(resized->producer->op, Op::kResize);
}

TEST_F(InferModelTest, WhatHasMoreOrOtherThanItsOperatorIsOfAnUnknownOne) {
  const Value x = input("x", {2, 3});
  ValueInfo* cast = node("Cast", {x.info(), x.info()});
  set_attribute(cast->producer, "to", DType::kFloat16);
  ValueInfo* turned = node("Transpose", {x.info()});
  set_attribute(turned->producer, "perm", std::int64_t{1});
  ValueInfo* whole = node("Transpose", {x.info()});
  ValueInfo* of_no_type = node("Cast", {x.info()});
  ValueInfo* far = node("Softmax", {x.info()});
  set_attribute(far->producer, "axis", std::int64_t{1} << 40);
  set_outputs(model.graph, {cast, turned, whole, of_no_type, far});
  const std::vector<TypeConflict> disputes = infer_types(model);
  ASSERT_EQ(disputes.size(), 4U);
  EXPECT_EQ(disputes[0].message, "it has 2 inputs, more than its operator takes");
  EXPECT_EQ(disputes[1].message, "its attribute 'perm' is of another kind than its operator has");
  EXPECT_EQ(disputes[2].message, "it lacks the attribute 'to', which its operator needs");
  EXPECT_EQ(disputes[3].message, "its attribute 'axis' is a number that it cannot be");
  EXPECT_EQ(cast->producer->op, kUnknownOp);
  EXPECT_EQ(whole->producer->op, Op::kTranspose);
}

TEST_F(InferModelTest, ALoopsStateHasWhatEveryStepKeeps) {
  const Value x = input("x", {b, 4});
  Graph* body = model.add_graph("body", model.graph);
  ValueInfo* i = model.add_input(body, "i");
  ValueInfo* condition = model.add_input(body, "condition");
  ValueInfo* kept = model.add_input(body, "kept");
  ValueInfo* grown = model.add_input(body, "grown");
  const Attribute axis{"axis", std::int64_t{0}, {}};
  ValueInfo* next = node("Exp", {kept}, body);
  ValueInfo* more = node("Concat", {grown, x.info()}, body, {axis});
  set_outputs(body, {node("Identity", {condition}, body), next, more});
  ValueInfo* count = model.add_constant(Tensor::of_int(3));
  Node* loop = model.add_node("Loop", "");
  for (ValueInfo* each : {count, static_cast<ValueInfo*>(nullptr), x.info(), x.info()})
    add_input(loop, each);
  set_attribute(loop, "body", body);
  append(model.graph, loop);
  for (int k = 0; k < 2; ++k) add_output(loop, model.add_value("state"));
  set_outputs(model.graph, {loop->output(0), loop->output(1)});
  EXPECT_TRUE(infer_types(model).empty());
  EXPECT_EQ(type(i), "int64[]");
  EXPECT_EQ(type(loop->output(0)), "float32[b, 4]");
  EXPECT_EQ(type(loop->output(1)), "float32[?, 4]");
}

class FunctionTest : public InferModelTest {
 protected:
  FunctionTest() {
    Function function;
    function.domain = "own";
    function.name = "f";
    function.opsets = {{"", 20}};
    function.body = model.add_graph("f", nullptr);
    in = model.add_input(function.body, "x");
    set_outputs(function.body, {node("Exp", {in}, function.body)});
    model.functions.push_back(function);
  }

  ValueInfo* call(ValueInfo* x) {
    Node* made = model.add_node("f", "own");
    add_input(made, x);
    append(model.graph, made);
    add_output(made, model.add_value("called"));
    return made->output();
  }

  ValueInfo* in;
};

TEST_F(FunctionTest, HasWhatItsCallsHaveInCommon) {
  ValueInfo* y = call(input("x", {b, 4}).info());
  ValueInfo* z = call(input("z", {b, 5}).info());
  set_outputs(model.graph, {node("Neg", {y}), z});
  EXPECT_TRUE(infer_types(model).empty());
  EXPECT_EQ(type(in), "float32[b, ?]");
  EXPECT_EQ(type(model.graph->outputs[0]), "float32[b, ?]");
}

TEST_F(FunctionTest, LayersThatFollowOneAnotherHaveTheFirstOnesType) {
  ValueInfo* y = call(call(call(input("x", {b, 4}).info())));
  set_outputs(model.graph, {y});
  EXPECT_TRUE(infer_types(model).empty());
  EXPECT_EQ(type(in), "float32[b, 4]");
  EXPECT_EQ(type(y), "float32[b, 4]");
}

TEST_F(FunctionTest, AnArgumentOfWhichNothingIsKnownCounts) {
  ValueInfo* unknown = model.add_input(model.graph, "u");
  ValueInfo* y = call(call(input("x", {b, 4}).info()));
  set_outputs(model.graph, {y, call(unknown)});
  infer_types(model);
  EXPECT_EQ(in->dtype, DType::kUndefined);
  EXPECT_EQ(y->dtype, DType::kUndefined);
}

}  // namespace
}  // namespace sardonyx::onnx
