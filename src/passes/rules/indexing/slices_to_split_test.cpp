#include "passes/rules/indexing/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;

TEST_F(RulesTest, PartsSideBySideAreSplit) {
  const Value x = input("x", {b, 16});
  const Value low = onnx.slice(x, 1, 0, 6), high = onnx.slice(x, 1, 6, 16);
  const std::string name = low->name;
  outputs({onnx.neg(high), low});
  EXPECT_TRUE(run(kSlicesToSplit));
  EXPECT_EQ(ops(), "Split Neg");
  EXPECT_EQ(model.graph->outputs[1]->name, name);
  EXPECT_EQ(type(model.graph->first->output(1)), "float32[b, 10]");
}

TEST_F(RulesTest, PartsWithAGapAreNotSplit) {
  const Value x = input("x", {b, 16});
  outputs({onnx.slice(x, 1, 0, 6), onnx.slice(x, 1, 7, 16)});
  EXPECT_FALSE(run(kSlicesToSplit));
}

TEST_F(RulesTest, PartsThatAreSlicedAgainAreOneSliceEach) {
  const Value x = input("x", {b, 16, 8});
  const auto tail = [&](Value part) { return onnx.slice(part, 2, 1, 8); };
  outputs({tail(onnx.slice(x, 1, 0, 6)), tail(onnx.slice(x, 1, 6, 16))});
  EXPECT_FALSE(run(kSlicesToSplit));
  EXPECT_TRUE(run(kMergeSlices));
  EXPECT_EQ(ops(), "Slice Slice");
}

}  // namespace
}  // namespace sardonyx::passes
