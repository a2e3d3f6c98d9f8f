#include "onnx/infer/infer.h"
#include "passes/rules/reshape/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;

struct MergeTransposes : RulesTest {
  Value x = onnx.exp(input("x", {b, 3, s, 5}));

  // As files have it: the emitter would have joined them.
  Value transposed(Value each, std::vector<std::int64_t> perm) {
    onnx::Node* node = model.add_node("Transpose", "");
    onnx::add_input(node, each.info());
    onnx::set_attribute(node, "perm", std::move(perm));
    onnx::append(model.graph, node);
    onnx::add_output(node, model.add_value("transposed"));
    onnx::infer(node, *pool, onnx::newest_opset());
    return node->output();
  }
};

TEST_F(MergeTransposes, TwoAreOne) {
  outputs({onnx.neg(transposed(transposed(x, {0, 2, 3, 1}), {1, 0, 2, 3}))});
  EXPECT_TRUE(run(kMergeTransposes)) << reason();
  EXPECT_EQ(ops(), "Exp Transpose Neg");
  EXPECT_EQ(type(model.graph->last->output()), "float32[s, b, 5, 3]");
}

TEST_F(MergeTransposes, ThatUndoEachOtherAreNone) {
  const Value between = transposed(x, {0, 2, 3, 1});
  outputs({onnx.neg(transposed(between, {0, 3, 1, 2})), onnx.neg(between),
           onnx.exp(transposed(x, {0, 1, 2, 3}))});
  EXPECT_TRUE(run(kMergeTransposes)) << reason();
  EXPECT_EQ(ops(), "Exp Transpose Neg Neg Exp");
}

TEST_F(MergeTransposes, WhatElseReadsIsKept) {
  const Value between = transposed(x, {0, 2, 3, 1});
  outputs({onnx.neg(transposed(between, {0, 2, 1, 3})), onnx.neg(between)});
  EXPECT_FALSE(run(kMergeTransposes));
  EXPECT_EQ(reason(), "something else reads what is transposed again");
}

}  // namespace
}  // namespace sardonyx::passes
