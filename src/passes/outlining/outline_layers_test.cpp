#include "passes/outlining/outline_layers.h"

#include "passes/passes.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;

struct OutlineLayers : RulesTest {
  int weights = 0;

  Value layer(Value x, Value mask, float factor = 2) {
    const Value w = weight("w" + std::to_string(weights++), {2, 2}, {1, 2, 3, 4});
    const Value scaled = onnx.mul(onnx.tanh(onnx.matmul(x, w)), onnx.scalar(factor, x.dtype()));
    return onnx.add(x, onnx.mul(scaled, mask));
  }

  std::int64_t outlined() {
    const std::int64_t calls = outline_layers(model);
    onnx::verify(model);
    return calls;
  }
};

TEST_F(OutlineLayers, EachIsACallWithWeightsOfItsOwn) {
  Value x = input("x", {b, 2});
  const Value mask = onnx.sigmoid(input("m", {b, 1}));
  for (int i = 0; i < 3; ++i) x = layer(x, mask);
  const std::string name = x->name;
  outputs({onnx.neg(x)});
  EXPECT_EQ(outlined(), 3);
  EXPECT_EQ(ops(), "Sigmoid Layer Layer Layer Neg");
  ASSERT_EQ(model.functions.size(), 1);
  EXPECT_EQ(model.functions.front().body->inputs.size(), 3);
  EXPECT_EQ(model.graph->last->input(0)->name, name);
}

TEST_F(OutlineLayers, OtherConstantsMakeAnotherLayer) {
  Value x = input("x", {b, 2});
  const Value mask = input("m", {b, 1});
  for (const float factor : {2.0F, 2.0F, 3.0F, 3.0F}) x = layer(x, mask, factor);
  outputs({x});
  EXPECT_EQ(outlined(), 4);
  EXPECT_EQ(ops(), "Layer Layer Layer.1 Layer.1");
}

TEST_F(OutlineLayers, WhatAGraphHandsOutIsHandedOutOfTheFunction) {
  const Value mask = input("m", {b, 1}), first = layer(input("x", {b, 2}), mask);
  outputs({first, layer(first, mask)});
  EXPECT_EQ(outlined(), 2);
  EXPECT_EQ(ops(), "Layer Layer");
}

TEST_F(OutlineLayers, OneAloneStays) {
  outputs({layer(input("x", {b, 2}), input("m", {b, 1}))});
  EXPECT_EQ(outlined(), 0);
  EXPECT_EQ(ops(), "MatMul Tanh Mul Mul Add");
}

}  // namespace
}  // namespace sardonyx::passes
