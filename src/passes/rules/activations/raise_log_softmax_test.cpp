#include "passes/rules/activations/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;

class RaiseLogSoftmax : public RulesTest {
 protected:
  Value x = input("x", {b, s, 4});

  Value reduced(const char* op, Value of, std::int64_t axis) {
    const std::vector<std::int64_t> axes = {axis};
    return onnx.reduce(op, of, axes, true);
  }
};

TEST_F(RaiseLogSoftmax, OfSoftmax) {
  outputs({onnx.log(onnx.softmax(x, {.axis = 1}))});
  EXPECT_TRUE(run(kRaiseLogSoftmax));
  EXPECT_EQ(ops(), "LogSoftmax");
  EXPECT_EQ(model.graph->first->int_or("axis", -1), 1);
}

TEST_F(RaiseLogSoftmax, OfADifference) {
  outputs({onnx.sub(x, reduced("ReduceLogSumExp", x, 1))});
  EXPECT_TRUE(run(kRaiseLogSoftmax));
  EXPECT_EQ(ops(), "LogSoftmax");
}

}  // namespace
}  // namespace sardonyx::passes
