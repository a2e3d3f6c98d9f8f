#include "onnx/graph/joined.h"

#include <gtest/gtest.h>

namespace sardonyx::onnx {
namespace {

using base::DType;

Tensor floats(const std::vector<float>& values, std::vector<std::int64_t> dims) {
  return Tensor::of_bytes(DType::kFloat32, std::move(dims), std::as_bytes(std::span(values)));
}

class JoinedTest : public testing::Test {
 protected:
  Tensor a = floats({1, 2, 3, 4}, {2, 2}), b = floats({5, 6, 7, 8, 9, 10}, {2, 3});
};

TEST_F(JoinedTest, MatricesStandSideBySide) {
  const Tensor both = joined({a, b}, 1).value();
  EXPECT_EQ(both.dims, (std::vector<std::int64_t>{2, 5}));
  EXPECT_EQ(both.reals(), (std::vector<double>{1, 2, 5, 6, 7, 3, 4, 8, 9, 10}));
  EXPECT_FALSE(joined({a, b}, 0).has_value());
}

TEST_F(JoinedTest, TurnedMatricesStandOneAfterTheOther) {
  const Tensor both = joined({permuted(a, {1, 0}), permuted(b, {1, 0})}, 0).value();
  EXPECT_EQ(both.reals(), (std::vector<double>{1, 3, 2, 4, 5, 8, 6, 9, 7, 10}));
  // What is joined and then turned is joined still: nothing is computed until it is written.
  const Tensor back = permuted(both, {1, 0});
  ASSERT_NE(joined_of(back), nullptr);
  EXPECT_EQ(back.reals(), (std::vector<double>{1, 2, 5, 6, 7, 3, 4, 8, 9, 10}));
}

TEST_F(JoinedTest, PartsAreComputedAsTheyAreRead) {
  const Tensor scaled_a = scaled(a, {.factors = {10, 100}, .inner = 1, .period = 2, .rows = 2});
  const Tensor both = joined({scaled_a, b}, 1).value();
  EXPECT_EQ(both.reals(), (std::vector<double>{10, 200, 5, 6, 7, 30, 400, 8, 9, 10}));
  const Tensor half = cast_with_offset(both, DType::kFloat16, 0);
  ASSERT_NE(joined_of(half), nullptr);
  EXPECT_EQ(half.dtype, DType::kFloat16);
  EXPECT_EQ(half.reals(), both.reals());
}

TEST_F(JoinedTest, VectorsAreJoinedInTheirOnlyAxis) {
  const Tensor both = joined({floats({1, 2}, {2}), floats({3}, {1})}, 0).value();
  EXPECT_EQ(both.reals(), (std::vector<double>{1, 2, 3}));
}

TEST_F(JoinedTest, DataThatIsToComeIsNotJoined) {
  Tensor later = b;
  later.data = nullptr;
  later.missing = true;
  EXPECT_FALSE(joined({a, later}, 1).has_value());
}

}  // namespace
}  // namespace sardonyx::onnx
