#include "rewriting/patch.h"
#include "rewriting/rewrite.h"
#include "rewriting/test_graph.h"

namespace sardonyx::rewriting {
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

TEST_F(WorklistTest, NeighborsOfAChangeAreAskedAgain) {
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

}  // namespace
}  // namespace sardonyx::rewriting
