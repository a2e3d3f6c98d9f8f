#include "onnx/graph/branches.h"

#include <gtest/gtest.h>

#include <array>
#include <span>
#include <string>

#include "base/diagnostic.h"
#include "onnx/emit/emit_test_graph.h"

namespace sardonyx::onnx {
namespace {

const std::array<float, 2> kNumbers = {1, 2};

Tensor borrowed() {
  Tensor tensor;
  tensor.dtype = DType::kFloat32;
  tensor.dims = {2};
  tensor.data = std::as_bytes(std::span(kNumbers)).data();
  return tensor;
}

// y = x * w, and of the first also what it keeps of the states.
struct Decoder : TestGraph {
  explicit Decoder(bool later) {
    const symbolic::Expr b = pool->symbol("b"), s = pool->symbol(later ? "p" : "s");
    const Value y = onnx.mul(input("x", {b, 2}), model.add_weight("w", borrowed()));
    const Value states = input(later ? "past" : "states", {b, s});
    if (later) {
      finish({y});
    } else {
      finish({y, states});
    }
    model.opsets[""] = 20;
  }

  void finish(const std::vector<Value>& values) {
    std::vector<ValueInfo*> outputs;
    for (const Value value : values) outputs.push_back(value.info());
    model.rename(outputs.front(), "y");
    if (outputs.size() > 1) {
      outputs[1] = onnx.neg(values[1]).info();
      model.rename(outputs[1], "present");
    }
    set_outputs(model.graph, outputs);
  }
};

TEST(BranchesTest, HaveTheInputsOfBothAndEachWeightOnce) {
  const Decoder first(false), later(true);
  const auto made = in_branches(later.model, first.model, "later", {{"present", "past"}});
  verify(*made);
  std::string inputs;
  for (const ValueInfo* input : made->graph->inputs) inputs += input->name + " ";
  EXPECT_EQ(inputs, "x states past later ");
  EXPECT_EQ(made->graph->outputs[0]->name, "y");
  EXPECT_EQ(made->graph->outputs[1]->name, "present");
  EXPECT_EQ(made->graph->inputs[0]->shape[0], made->graph->inputs[2]->shape[0]);
  EXPECT_EQ(made->graph->inputs[1]->shape[1].str(), "s");
  EXPECT_EQ(made->graph->outputs[0]->shape[0], made->graph->inputs[0]->shape[0]);
  EXPECT_FALSE(made->graph->outputs[1]->shape[1].known());  // of the states, or of the past
  std::size_t weights = 0;
  for (const ValueInfo* value : made->initializers) weights += value->is_weight;
  EXPECT_EQ(weights, 1U);
  const Node* node = made->graph->first;
  ASSERT_EQ(node->op_type, "If");
  EXPECT_EQ(bodies(node)[0]->last->op_type, "Identity");  // hands the past out
  EXPECT_EQ(bodies(node)[1]->last->op_type, "Neg");
}

TEST(BranchesTest, WhatIsKeptMayBeOfNoSizeYet) {
  const Decoder first(false), later(true);
  later.model.graph->inputs.back()->shape[1] = 7;
  const auto made =
      in_branches(later.model, first.model, "later", {{"present", "past"}}, std::size_t{1});
  for (const ValueInfo* input : made->graph->inputs)
    if (input->name == "past") {
      EXPECT_EQ(input->shape[1].str(), "kept_sequence_length");
    }
}

TEST(BranchesTest, WhatDoesNotGoTogetherIsRefused) {
  const Decoder first(false), later(true);
  EXPECT_THROW(in_branches(later.model, first.model, "later", {}), base::Error);
  EXPECT_THROW(in_branches(later.model, first.model, "later", {{"present", "y"}}), base::Error);
}

}  // namespace
}  // namespace sardonyx::onnx
