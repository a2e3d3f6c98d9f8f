#include "passes/passes.h"
#include "passes/rules/identities/rules.h"
#include "passes/rules/weights/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Value;

using PipelineTest = RulesTest;

TEST_F(PipelineTest, FunctionsAreRewrittenUnlessTheyTakeAttributes) {
  onnx::Function function;
  function.domain = "own";
  function.name = "f";
  function.opsets = {{"", 17}};
  function.body = model.add_graph("f", nullptr);
  onnx::ValueInfo* x = model.add_input(function.body, "x");
  const auto add = [&](std::string op, onnx::ValueInfo* read) {
    Node* node = model.add_node(std::move(op), "");
    onnx::add_input(node, read);
    onnx::append(function.body, node);
    onnx::add_output(node, model.add_value("y", function.body));
    return node;
  };
  Node* same = add("Identity", x);
  Node* last = add("LeakyRelu", same->output());
  last->attributes.push_back({"alpha", 0.0F, "slope"});
  onnx::set_outputs(function.body, {last->output()});
  model.functions.push_back(function);
  EXPECT_FALSE(run(kDropIdentity));
  last->attributes.clear();
  EXPECT_TRUE(run(kDropIdentity));
  EXPECT_EQ(ops(function.body), "LeakyRelu");
  EXPECT_EQ(onnx::opset_of(function.body), 17);
}

TEST_F(PipelineTest, ARuleSaysWhyItDeclines) {
  const Value x = input("x", {b, 1, 4});
  const Value y = onnx.conv(x, weight("w", {2, 1, 1}, {1, 2}), Value());
  const Value ones = weight("ones", {2}, {1, 1});
  outputs({onnx.add(y, onnx.batch_normalization(y, ones, ones, ones, ones))});
  EXPECT_FALSE(run(kFoldBatchNorm));
  ASSERT_EQ(report.declined.size(), 1U);
  EXPECT_EQ(report.declined[0].rule, "fold-batch-norm");
  EXPECT_EQ(report.declined[0].node, "node_BatchNormalization");
  EXPECT_EQ(reason(), "something else reads what it would be folded into");
}

TEST_F(PipelineTest, RulesThatChangeWeightsRunWhereTheyMay) {
  const Value w = weight("w", {2, 3}, {1, 2, 3, 4, 5, 6});
  outputs({onnx.matmul(input("x", {b, s, 3}), onnx.transpose(w, {1, 0}))});
  EXPECT_FALSE(run(kTransposeWeights, {.stop_after = {}, .keep_weights = true, .limits = {}}));
  report = optimize(model, Options{});
  EXPECT_EQ(report.names(), std::vector<std::string>{"transpose-weights"});
  EXPECT_EQ(report.applied[0].count, 1);
}

TEST_F(PipelineTest, NothingIsBuiltOnADisputedType) {
  const Value x = input("x", {b, 3}), y = onnx.identity(x);
  outputs({onnx.neg(y)});
  y->is_disputed = true;
  EXPECT_FALSE(run(kDropIdentity));
  EXPECT_NE(reason().find("declared type of 'Identity'"), std::string::npos) << reason();
}

}  // namespace
}  // namespace sardonyx::passes
