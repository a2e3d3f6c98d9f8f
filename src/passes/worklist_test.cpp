#include "passes/passes.h"
#include "passes/patch.h"
#include "passes/rewrite.h"
#include "passes/rules/rules.h"
#include "passes/rules_test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::Value;

using WorklistTest = RulesTest;

// Sin(Sin(x)) as x: what is left stands beside another Sin now.
bool drop_two(Node* node, RuleContext& context) {
  const Node* inner = made_by(node->input(0), Op::kSin);
  if (inner == nullptr) return false;
  Patch patch(context, node);
  patch.replace(node->output(), inner->input(0));
  return patch.apply();
}

constexpr Op kSines[] = {Op::kSin};
constexpr Rule kDropTwo = {"drop-two", kSines, drop_two};

TEST_F(WorklistTest, NeighboursOfAChangeAreAskedAgain) {
  Value x = onnx.exp(input("x", {b}));
  for (int i = 0; i < 8; ++i) x = onnx.node("", "Sin", std::vector<Value>{x}, {}, 1)[0];
  outputs({onnx.abs(x)});
  EXPECT_TRUE(run(kDropTwo));
  EXPECT_EQ(ops(), "Exp Abs");
}

// Puts the operands of an addition the other way round, for ever.
bool turn_round(Node* node, RuleContext& context) {
  Patch patch(context, node);
  patch.set_input(node, 0, node->input(1));
  patch.set_input(node, 1, node->input(0));
  return patch.apply();
}

constexpr Op kAdditions[] = {Op::kAdd};

TEST_F(WorklistTest, RulesWithoutAnEndAreStopped) {
  outputs({onnx.add(input("x", {b}), input("y", {b}))});
  EXPECT_TRUE(run(Rule{"turn-round", kAdditions, turn_round}));
}

TEST_F(WorklistTest, FunctionsAreRewrittenUnlessTheyTakeAttributes) {
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

TEST_F(WorklistTest, ARuleSaysWhyItDeclines) {
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

TEST_F(WorklistTest, RulesThatChangeWeightsRunWhereTheyMay) {
  const Value w = weight("w", {2, 3}, {1, 2, 3, 4, 5, 6});
  outputs({onnx.matmul(input("x", {b, s, 3}), onnx.transpose(w, {1, 0}))});
  EXPECT_FALSE(run(kTransposeWeights, {.stop_after = {}, .keep_weights = true, .limits = {}}));
  report = optimize(model, Options{});
  EXPECT_EQ(report.names(), std::vector<std::string>{"transpose-weights"});
  EXPECT_EQ(report.applied[0].count, 1);
}

}  // namespace
}  // namespace sardonyx::passes
