#include "onnx/graph/recipe.h"
#include "passes/rules/weights/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;

TEST_F(RulesTest, AnUnsqueezedWeightTakesItsDims) {
  const Value w = weight("w", {2}, {1, 2});
  outputs({onnx.mul(input("x", {b, 2, 4}), onnx.unsqueeze(w, {1}))});
  EXPECT_TRUE(run(kReshapeWeights));
  EXPECT_EQ(ops(), "Mul");
  EXPECT_EQ(w->constant->dims, (std::vector<std::int64_t>{2, 1}));
  EXPECT_EQ(onnx::source_type(*w->constant).dims, std::vector<std::int64_t>{2});
}

TEST_F(RulesTest, AWeightOfTwoShapesStays) {
  const Value w = weight("w", {2}, {1, 2});
  const Value x = input("x", {b, 2, 2});
  outputs({onnx.add(onnx.mul(x, onnx.unsqueeze(w, {1})), w)});
  EXPECT_FALSE(run(kReshapeWeights));
}

}  // namespace
}  // namespace sardonyx::passes
