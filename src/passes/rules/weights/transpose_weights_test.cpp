#include "onnx/graph/recipe.h"
#include "passes/rules/weights/rules.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Value;

TEST_F(RulesTest, ATransposedWeightIsTurnedInPlace) {
  const Value w = weight("w", {2, 3}, {1, 2, 3, 4, 5, 6});
  outputs({onnx.matmul(input("x", {b, s, 3}), onnx.transpose(w, {1, 0}))});
  EXPECT_TRUE(run(kTransposeWeights));
  EXPECT_EQ(ops(), "MatMul");
  EXPECT_EQ(w->constant->dims, (std::vector<std::int64_t>{3, 2}));
  EXPECT_EQ(reals(w.info()), (std::vector<double>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(onnx::source_type(*w->constant).dims, (std::vector<std::int64_t>{2, 3}));
}

TEST_F(RulesTest, ATiedWeightIsNotTurned) {
  const Value w = weight("w", {2, 3}, {1, 2, 3, 4, 5, 6});
  const Value row = onnx.gather(w, input("i", {b}, DType::kInt64), {.axis = 0});
  outputs({onnx.matmul(row, onnx.transpose(w, {1, 0}))});
  EXPECT_FALSE(run(kTransposeWeights));
  EXPECT_EQ(ops(), "Gather Transpose MatMul");
}

TEST_F(RulesTest, ASmallTiedWeightOfAnotherMakerIsThereTwice) {
  const Options foreign{.stop_after = {}, .infer_types = true, .limits = {}};
  const Value w = weight("w", {2, 3}, {1, 2, 3, 4, 5, 6});
  const Value row = onnx.gather(w, input("i", {b}, DType::kInt64), {.axis = 0});
  outputs({onnx.matmul(row, onnx.transpose(w, {1, 0}))});
  EXPECT_TRUE(run(kTransposeWeights, foreign)) << reason();
  EXPECT_EQ(ops(), "Gather MatMul");
  EXPECT_EQ(reals(model.graph->last->input(1)), (std::vector<double>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(reals(w.info()), (std::vector<double>{1, 2, 3, 4, 5, 6}));
}

TEST_F(RulesTest, ALargeOneIsNot) {
  const Options foreign{.stop_after = {}, .infer_types = true, .limits = {}};
  const Value w = weight("w", {4097, 1}, std::vector<float>(4097, 1));
  const Value row = onnx.gather(w, input("i", {b}, DType::kInt64), {.axis = 0});
  outputs({onnx.matmul(row, onnx.transpose(w, {1, 0}))});
  EXPECT_FALSE(run(kTransposeWeights, foreign));
}

}  // namespace
}  // namespace sardonyx::passes
