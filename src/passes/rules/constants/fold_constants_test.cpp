#include "passes/rules/constants/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Value;
using onnx::ValueInfo;

// Nodes as a file has them: the emitter would compute them itself.
class FoldConstantsTest : public RulesTest {
 protected:
  ValueInfo* node(std::string op, std::vector<ValueInfo*> inputs) {
    Node* made = model.add_node(std::move(op), "");
    for (ValueInfo* each : inputs) onnx::add_input(made, each);
    onnx::append(model.graph, made);
    onnx::add_output(made, model.add_value("y"));
    return made->output();
  }
};

TEST_F(FoldConstantsTest, NumbersAreComputed) {
  ValueInfo* two = onnx.int_scalar(2).info();
  ValueInfo* eight = node("Mul", {node("Add", {two, two}), two});
  ValueInfo* x = input("x", {b}, onnx::DType::kInt64).info();
  ValueInfo* y = node("Mul", {x, eight});
  outputs({y});
  EXPECT_TRUE(run(kFoldConstants));
  EXPECT_EQ(ops(), "Mul");
  EXPECT_EQ(model.graph->first->input(1)->constant->ints(), std::vector<std::int64_t>{8});
}

TEST_F(FoldConstantsTest, SizesThatAreKnownAreNumbers) {
  const Value x = input("x", {b, 4});
  ValueInfo* size = node("Shape", {x.info()});
  size->dtype = onnx::DType::kInt64;
  size->has_rank = true;
  size->shape = {1};
  size->contents = {4};
  outputs({node("Add", {size, size})});
  EXPECT_TRUE(run(kFoldConstants));
  EXPECT_EQ(ops(), "Add");
}

TEST_F(FoldConstantsTest, WeightsAndOutputsStay) {
  const Value w = weight("w", {2}, {1, 2});
  ValueInfo* two = onnx.int_scalar(2).info();
  outputs({node("Neg", {w.info()}), node("Add", {two, two})});
  EXPECT_FALSE(run(kFoldConstants));
  EXPECT_EQ(reason(), "it is an output of its graph");
}

}  // namespace
}  // namespace sardonyx::passes
