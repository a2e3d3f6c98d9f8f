#include "onnx/graph/shared_constants.h"

#include <gtest/gtest.h>

#include "onnx/emit/emit_test_graph.h"
#include "onnx/graph/recipe.h"

namespace sardonyx::onnx {
namespace {

Tensor float_matrix(const std::vector<float>& values, std::vector<std::int64_t> dims) {
  return Tensor::of_bytes(DType::kFloat32, std::move(dims), std::as_bytes(std::span(values)));
}

struct SharedConstantsTest : testing::Test {
  std::int64_t take(const WeightNames& names, std::int64_t least = 1) {
    return take_equal_constants(model.model, source.model, names, least);
  }

  TestGraph model, source;
  Tensor matrix = float_matrix({1, 2, 3, 4}, {2, 2});
};

TEST_F(SharedConstantsTest, AreTakenWhereTheyAreEqual) {
  const ValueInfo* head = model.model.add_weight("head", permuted(matrix, {1, 0}));
  const ValueInfo* scales = model.model.add_weight("head_scales", matrix);
  const ValueInfo* other = source.model.add_weight("shared", float_matrix({1, 3, 2, 4}, {2, 2}));
  source.model.add_weight("shared_scales", float_matrix({1, 2, 3, 5}, {2, 2}));
  EXPECT_EQ(take({{"head", "tied"}, {"head", "shared"}}), 16);
  EXPECT_EQ(head->constant, other->constant);
  EXPECT_EQ(scales->constant->reals(), matrix.reals());
}

TEST_F(SharedConstantsTest, AreThoseOfTheNamedWeights) {
  model.model.add_weight("head", matrix);
  model.model.add_weight("headline", matrix);
  source.model.add_weight("shared", matrix);
  source.model.add_weight("sharedline", matrix);
  EXPECT_EQ(take({}), 0);
  EXPECT_EQ(take({{"hea", "sha"}}), 0);
  EXPECT_EQ(take({{"head", "shared"}}, 17), 0);
  EXPECT_EQ(take({{"head", "shared"}}), 16);
}

TEST_F(SharedConstantsTest, OfAnotherTypeAreNot) {
  model.model.add_weight("head", cast_with_offset(matrix, DType::kFloat16, 0));
  model.model.add_weight("flat", float_matrix({1, 2, 3, 4}, {4}));
  source.model.add_weight("head", matrix);
  source.model.add_weight("flat", matrix);
  EXPECT_EQ(take({{"head", "head"}, {"flat", "flat"}}), 0);
}

}  // namespace
}  // namespace sardonyx::onnx
