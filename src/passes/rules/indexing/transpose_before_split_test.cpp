#include "passes/rules/indexing/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;

struct TransposeBeforeSplit : RulesTest {
  Value x = onnx.exp(input("x", {s, b, 6}));
  onnx::Values parts = onnx.split(2, x, onnx.ints({2, 4}), {.axis = -1});
};

TEST_F(TransposeBeforeSplit, PartsThatAreTransposedAlike) {
  outputs({onnx.neg(onnx.transpose(parts[0], {2, 1, 0})),
           onnx.abs(onnx.transpose(parts[1], {2, 1, 0}))});
  ASSERT_TRUE(run(kTransposeBeforeSplit)) << reason();
  EXPECT_EQ(ops(), "Exp Transpose Split Neg Abs");
  const onnx::Node* split = model.graph->first->next->next;
  EXPECT_EQ(split->int_or("axis", -1), 0);
  EXPECT_EQ(type(split->output(1)), "float32[4, b, s]");
}

TEST_F(TransposeBeforeSplit, PartsInTwoOrdersStay) {
  outputs({onnx.neg(onnx.transpose(parts[0], {2, 1, 0})),
           onnx.abs(onnx.transpose(parts[1], {1, 0, 2}))});
  EXPECT_FALSE(run(kTransposeBeforeSplit));
}

TEST_F(TransposeBeforeSplit, APartThatIsReadAsItIsStays) {
  outputs({onnx.neg(onnx.transpose(parts[0], {2, 1, 0})), onnx.abs(parts[1])});
  EXPECT_FALSE(run(kTransposeBeforeSplit));
}

}  // namespace
}  // namespace sardonyx::passes
