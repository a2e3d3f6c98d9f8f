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

TEST_F(RulesTest, LargeWeightsThatAreReadTwiceAndThoseThatAreOnlyTransposedStay) {
  const Value tied = weight("tied", {5000, 1}, std::vector<float>(5000, 4.0F));
  const Value moved = weight("moved", {2, 2}, {1, 2, 3, 4});
  const Value x = input("x", {b, 2});
  outputs({onnx.mul(onnx.mul(x, tied), onnx.sqrt(tied)),
           onnx.matmul(x, onnx.transpose(moved, {1, 0}))});
  EXPECT_FALSE(run(kFoldWeights));
}

TEST_F(RulesTest, SmallWeightsAreComputedWithThoughOthersReadThem) {
  const Value tied = weight("tied", {2}, {4, 16}), x = input("x", {b, 2});
  outputs({onnx.mul(onnx.mul(x, tied), onnx.sqrt(tied))});
  EXPECT_TRUE(run(kFoldWeights)) << reason();
  EXPECT_EQ(ops(), "Mul Mul");
}

TEST_F(RulesTest, WeightsAreDividedByTheirNorm) {
  // weight_norm: g * v / |v|, the norm over all axes but the first.
  const Value v = weight("v", {2, 2}, {3, 4, 6, 8}), g = weight("g", {2, 1}, {5, 20});
  outputs(
      {onnx.mul(input("x", {b, 2}), onnx.mul(onnx.div(v, onnx.reduce_l2(v, onnx.ints({1}))), g))});
  EXPECT_TRUE(run(kFoldWeights)) << reason();
  EXPECT_EQ(ops(), "Mul");
  EXPECT_EQ(reals(model.graph->first->input(1)), (std::vector<double>{3, 4, 12, 16}));
}

TEST_F(RulesTest, GatesArePutInAnotherOrder) {
  const Value w = weight("w", {3, 1}, {1, 2, 3});
  const onnx::Values gates = onnx.split(3, w, {}, {.num_outputs = 3});
  outputs({onnx.mul(input("x", {b, 1, 1}), onnx.concat({gates[0], gates[2], gates[1]}, 0))});
  EXPECT_TRUE(run(kFoldWeights)) << reason();
  EXPECT_EQ(ops(), "Mul");
  EXPECT_EQ(reals(model.graph->first->input(1)), (std::vector<double>{1, 3, 2}));
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

TEST_F(RulesTest, LargeWeightsAreCastWhileTheyAreWritten) {
  const Value w = weight("w", {5000}, std::vector<float>(5000, 1 + 0x1p-13F));
  const auto cast = [&](const Value& value, onnx::DType to) { return onnx.cast(value, to); };
  // Rounded by the first Cast, which the second one does not undo.
  const Value half = cast(w, onnx::DType::kFloat16);
  outputs({onnx.add(input("x", {5000}), cast(half, onnx::DType::kFloat32))});
  EXPECT_TRUE(run(kFoldWeights)) << reason();
  EXPECT_EQ(ops(), "Add");
  const onnx::Tensor& tensor = *model.graph->first->input(1)->constant;
  EXPECT_FALSE(tensor.is_materialized());
  EXPECT_EQ(tensor.stored_dtype(), onnx::DType::kFloat16);
  EXPECT_EQ(tensor.reals().value(), std::vector<double>(5000, 1));
}

TEST_F(RulesTest, LargeWeightsThatAreComputedWithFurtherAreInMemory) {
  const Value w = weight("w", {5000}, std::vector<float>(5000, 4.0F));
  outputs({onnx.add(input("x", {5000}, onnx::DType::kFloat64),
                    onnx.sqrt(onnx.cast(w, onnx::DType::kFloat64)))});
  EXPECT_TRUE(run(kFoldWeights)) << reason();
  EXPECT_EQ(ops(), "Add");
  EXPECT_EQ(reals(model.graph->first->input(1)), std::vector<double>(5000, 2));
}

}  // namespace
}  // namespace sardonyx::passes
