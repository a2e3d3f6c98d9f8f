#include "onnx/graph/interleaved.h"

#include <gtest/gtest.h>

#include <numeric>

namespace sardonyx::onnx {
namespace {

using base::DType;

// 0, 1, 2, …
Tensor counting(std::vector<std::int64_t> dims) {
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) count *= dim;
  std::vector<float> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 0.0F);
  return Tensor::of_bytes(DType::kFloat32, std::move(dims), std::as_bytes(std::span(values)));
}

TEST(Interleaved, RowsOfTheSecondHalfFollowThoseOfTheFirst) {
  const Tensor pairs = interleaved(counting({2, 4, 2})).value();
  EXPECT_EQ(pairs.dims, (std::vector<std::int64_t>{2, 4, 2}));
  EXPECT_EQ(pairs.reals(), (std::vector<double>{0, 1, 4, 5, 2, 3, 6, 7,  //
                                                8, 9, 12, 13, 10, 11, 14, 15}));
  EXPECT_EQ(interleaved(counting({2, 4}))->reals(), (std::vector<double>{0, 2, 1, 3, 4, 6, 5, 7}));
}

TEST(Interleaved, RowsAreComputedAsTheyAreWritten) {
  // Row i of a matrix is a column of the weight, which is scaled before.
  const Tensor weight = scaled(counting({1, 2, 4}),
                               {.factors = {1, 10, 100, 1000}, .inner = 1, .period = 4, .rows = 2});
  const Tensor pairs = interleaved(permuted(weight, {0, 2, 1})).value();
  EXPECT_EQ(pairs.reals(), (std::vector<double>{0, 4, 200, 600, 10, 50, 3000, 7000}));
  const Tensor half =
      interleaved(cast_with_offset(counting({1, 4, 1}), DType::kFloat16, 0)).value();
  EXPECT_EQ(half.dtype, DType::kFloat16);
  EXPECT_EQ(half.reals(), (std::vector<double>{0, 2, 1, 3}));
}

TEST(Interleaved, OthersStayAsTheyAre) {
  EXPECT_FALSE(interleaved(counting({4})).has_value());
  EXPECT_FALSE(interleaved(counting({2, 3, 2})).has_value());
  Tensor later = counting({2, 4, 2});
  later.data = nullptr;
  later.missing = true;
  EXPECT_FALSE(interleaved(later).has_value());
}

}  // namespace
}  // namespace sardonyx::onnx
