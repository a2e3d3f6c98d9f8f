#include "passes/rules/indexing/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;

class MergeConcats : public RulesTest {
 protected:
  Value x = input("x", {b, 4}), y = input("y", {b, 5});
  // By hand: the emitter joins some itself.
  Value joined(const std::vector<Value>& parts, std::int64_t axis) {
    return onnx.node("", "Concat", parts, {{"axis", axis, {}}}, 1).front();
  }
};

TEST_F(MergeConcats, OfOneAxisAreOne) {
  const Value inner = joined({x, y}, 1), other = joined({y, onnx.relu(x)}, -1);
  outputs({joined({inner, x, other}, 1)});
  EXPECT_TRUE(run(kMergeConcats));
  EXPECT_EQ(ops(), "Relu Concat");
  EXPECT_EQ(model.graph->last->inputs.size(), 5U);
  EXPECT_EQ(type(model.graph->last->output()), "float32[b, 22]");
}

TEST_F(MergeConcats, OfOtherAxesStay) {
  outputs({joined({joined({x, x}, 0), joined({x, x}, 0)}, 1)});
  EXPECT_FALSE(run(kMergeConcats));
}

TEST_F(MergeConcats, WhatIsReadElsewhereStays) {
  const Value inner = joined({x, y}, 1);
  outputs({joined({inner, x}, 1), onnx.neg(inner)});
  EXPECT_FALSE(run(kMergeConcats));
}

}  // namespace
}  // namespace sardonyx::passes
