#include "passes/rules/identities/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Value;

using DecomposeCastLike = RulesTest;

TEST_F(DecomposeCastLike, IsACastToTheOthersType) {
  const std::vector<Value> inputs = {input("x", {b, 4}), input("h", {s}, DType::kFloat16)};
  outputs({onnx.node("", "CastLike", inputs, {}, 1)[0]});
  EXPECT_TRUE(run(kDecomposeCastLike));
  EXPECT_EQ(ops(), "Cast");
  EXPECT_EQ(model.graph->first->output()->dtype, DType::kFloat16);
}

TEST_F(DecomposeCastLike, OfAnUnknownTypeStays) {
  const std::vector<Value> inputs = {input("x", {b, 4}), input("h", {s})};
  outputs({onnx.node("", "CastLike", inputs, {}, 1)[0]});
  inputs[1]->dtype = DType::kUndefined;
  RuleContext context(model, {}, report);
  EXPECT_FALSE(kDecomposeCastLike.rewrite(model.graph->first, context));
}

}  // namespace
}  // namespace sardonyx::passes
