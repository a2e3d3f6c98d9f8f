#include "passes/rules/identities/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Value;

TEST_F(RulesTest, IdentityGoesAndTheOutputKeepsItsName) {
  const Value x = input("x", {b, 4});
  const Value last = onnx.identity(onnx.exp(onnx.identity(x)));
  model.rename(last.info(), "result");
  outputs({last});
  EXPECT_TRUE(run(kDropIdentity));
  EXPECT_EQ(ops(), "Exp");
  EXPECT_EQ(model.graph->outputs[0]->name, "result");
  EXPECT_FALSE(run(kDropIdentity));
}

TEST_F(RulesTest, IdentityStaysBetweenAnInputAndAnOutput) {
  const Value x = input("x", {b, 4});
  const Value y = onnx.exp(x);
  outputs({onnx.identity(x), y, onnx.identity(y)});
  EXPECT_FALSE(run(kDropIdentity));
  EXPECT_EQ(ops(), "Exp Identity Identity");
}

TEST_F(RulesTest, DropoutAtWorkStays) {
  const Value x = input("x", {b, 4});
  const Value off = onnx.node("", "Dropout", std::vector<Value>{x}, {}, 1)[0];
  const Value on = onnx.node(
      "", "Dropout",
      std::vector<Value>{x, onnx.scalar(0.5, DType::kFloat32), onnx.bool_scalar(true)}, {}, 1)[0];
  outputs({onnx.add(off, on)});
  EXPECT_TRUE(run(kDropIdentity));
  EXPECT_EQ(ops(), "Dropout Add");
}

}  // namespace
}  // namespace sardonyx::passes
