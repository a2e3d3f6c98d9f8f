#include "passes/rules/reshape/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;

class ExpandForTile : public RulesTest {
 protected:
  Value x = input("x", {b, 1, s, 1});
};

TEST_F(ExpandForTile, AxesOfOne) {
  outputs({onnx.tile(x, onnx.ints({1, 4, 1, 3}))});
  EXPECT_TRUE(run(kExpandForTile));
  EXPECT_EQ(ops(), "Expand");
  EXPECT_EQ(model.graph->first->output()->shape, (onnx::Shape{b, 4, s, 3}));
}

TEST_F(ExpandForTile, OtherAxesAndNoneStay) {
  outputs({onnx.tile(x, onnx.ints({1, 4, 2, 1})), onnx.tile(x, onnx.ints({1, 0, 1, 1})),
           onnx.tile(x, input("n", {4}, onnx::DType::kInt64))});
  EXPECT_FALSE(run(kExpandForTile));
}

}  // namespace
}  // namespace sardonyx::passes
