#include "rewriting/patch.h"

#include "rewriting/test_graph.h"

namespace sardonyx::rewriting {
namespace {

using onnx::DType;
using onnx::Node;
using onnx::Op;
using onnx::Value;
using onnx::ValueInfo;
using symbolic::Expr;

class PatchTest : public RulesTest {
 protected:
  Options options;
  RuleContext context{model, options, report};
};

TEST_F(PatchTest, WhatInferenceRefusesChangesNothing) {
  const Value x = input("x", {2, 3}), y = onnx.exp(x);
  outputs({y});
  const std::string before = onnx::to_string(model);
  {
    Patch patch(context, y->producer);
    ValueInfo* product = patch.node(Op::kMatMul, {x.info(), x.info()}, {}, "product");
    EXPECT_EQ(product, nullptr);
    patch.replace(y.info(), patch.node(Op::kExp, {product}, {}, "again"));
    EXPECT_FALSE(patch.apply());
  }
  EXPECT_EQ(onnx::to_string(model), before);
  EXPECT_EQ(model.unique_name("product"), "product");
  EXPECT_NE(reason().find("MatMul"), std::string::npos) << reason();
}

TEST_F(PatchTest, AnotherTypeThanThatWhichIsReplacedIsRefused) {
  const Value x = input("x", {b, 3}), y = onnx.exp(x), z = onnx.neg(y);
  outputs({z});
  y->shape = {b, Expr(4)};  // as a file may declare it
  Patch patch(context, z->producer);
  patch.replace(y.info(), patch.node(Op::kExp, {x.info()}, {}, "again"));
  EXPECT_FALSE(patch.apply());
  EXPECT_EQ(reason(), "of 'Exp', size 4 of axis 1 would be 3");
}

TEST_F(PatchTest, AValueThatIsMadeLaterIsRefused) {
  const Value x = input("x", {b, 3}), y = onnx.exp(x), z = onnx.neg(y);
  outputs({z});
  Patch patch(context, y->producer);
  patch.node(Op::kAbs, {z.info()}, {}, "early");
  EXPECT_FALSE(patch.apply());
  EXPECT_EQ(reason(), "'Neg' is made later");
}

TEST_F(PatchTest, AnEditIsTypedBeforeItIsMade) {
  const Value x = input("x", {2, 3}), i = input("i", {2, 3}, DType::kInt64);
  const Value y = onnx.add(x, x);
  outputs({y});
  Patch patch(context, y->producer);
  patch.set_input(y->producer, 1, i.info());
  EXPECT_FALSE(patch.apply());
  EXPECT_EQ(y->producer->input(1), x.info());
  onnx::verify(model);
}

}  // namespace
}  // namespace sardonyx::rewriting
