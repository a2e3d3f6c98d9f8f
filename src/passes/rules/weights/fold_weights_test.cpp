#include "onnx/infer/infer.h"
#include "passes/rules/weights/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;

TEST_F(RulesTest, SmallWeightsAreComputedWith) {
  const Value w = weight("w", {2}, {4, 16});
  outputs({onnx.mul(input("x", {b, 2}), onnx.reciprocal(onnx.sqrt(w)))});
  EXPECT_TRUE(run(kFoldWeights));
  EXPECT_EQ(ops(), "Mul");
  EXPECT_EQ(reals(model.graph->first->input(1)), (std::vector<double>{0.5, 0.25}));
  // By way of the square roots.
  EXPECT_EQ(model.graph->first->input(1)->made_of.at(0)->made_of.at(0), w.info());
}

TEST_F(RulesTest, WeightsThatAreReadTwiceOrOnlyMovedStay) {
  const Value tied = weight("tied", {2}, {4, 16}), moved = weight("moved", {2, 2}, {1, 2, 3, 4});
  const Value x = input("x", {b, 2});
  outputs({onnx.mul(onnx.mul(x, tied), onnx.sqrt(tied)),
           onnx.matmul(x, onnx.transpose(moved, {1, 0}))});
  EXPECT_FALSE(run(kFoldWeights));
}

TEST_F(RulesTest, IndicesAreComputedWithThoughOthersReadThem) {
  const std::vector<std::int64_t> places(64, 3);
  const Value at = model.add_weight("at", onnx::Tensor::of_ints(places, {64}));
  // As it stands in a file: the emitter would have computed it.
  onnx::Node* next = model.add_node("Add", "");
  onnx::add_input(next, at.info());
  onnx::add_input(next, onnx.int_scalar(1).info());
  onnx::append(model.graph, next);
  onnx::add_output(next, model.add_value("next"));
  onnx::infer(next, *pool, onnx::newest_opset());
  const Value x = input("x", {8}, onnx::DType::kInt64);
  outputs({onnx.gather(x, at), onnx.gather(x, next->output())});
  EXPECT_TRUE(run(kFoldWeights)) << reason();
  EXPECT_EQ(ops(), "Gather Gather");
}

}  // namespace
}  // namespace sardonyx::passes
