#include "passes/rules/activations/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;

class RaiseSoftmax : public RulesTest {
 protected:
  Value x = input("x", {b, s, 4});

  Value reduced(const char* op, Value of, std::int64_t axis) {
    const std::vector<std::int64_t> axes = {axis};
    return onnx.reduce(op, of, axes, true);
  }
};

TEST_F(RaiseSoftmax, WithItsMaximum) {
  const Value power = onnx.exp(onnx.sub(x, reduced("ReduceMax", x, -1)));
  outputs({onnx.div(power, reduced("ReduceSum", power, 2))});
  EXPECT_TRUE(run(kRaiseSoftmax));
  EXPECT_EQ(ops(), "Softmax");
  EXPECT_EQ(model.graph->first->int_or("axis", 0), 2);
}

TEST_F(RaiseSoftmax, Plain) {
  const Value power = onnx.exp(x);
  outputs({onnx.div(power, reduced("ReduceSum", power, 1))});
  EXPECT_TRUE(run(kRaiseSoftmax));
  EXPECT_EQ(model.graph->first->int_or("axis", 0), 1);
}

TEST_F(RaiseSoftmax, DeclinesAMaximumOfAnotherAxis) {
  const Value power = onnx.exp(onnx.sub(x, reduced("ReduceMax", x, 1)));
  outputs({onnx.div(power, reduced("ReduceSum", power, 2))});
  EXPECT_FALSE(run(kRaiseSoftmax));
  EXPECT_EQ(reason(), "the maximum is taken over another axis");
}

}  // namespace
}  // namespace sardonyx::passes
