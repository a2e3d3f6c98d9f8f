#include "onnx/graph/recipe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace sardonyx::onnx {
namespace {

using base::DType;

Tensor shaped(const std::vector<float>& values, std::vector<std::int64_t> dims) {
  return Tensor::of_bytes(DType::kFloat32, std::move(dims), std::as_bytes(std::span(values)));
}

TEST(RecipeTest, AxesMoveNoByteAndComputationsFollowThem) {
  const Tensor source = shaped({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor columns =
      scaled(source, {.factors = {1, 10, 100}, .inner = 1, .period = 3, .rows = 2});
  const Tensor tensor = permuted(columns, {1, 0});
  EXPECT_EQ(tensor.data, source.data);
  EXPECT_EQ(tensor.dims, (std::vector<std::int64_t>{3, 2}));
  EXPECT_EQ(tensor.reals(), (std::vector<double>{1, 4, 20, 50, 300, 600}));
  // A second computation numbers the elements as they are by now.
  const Tensor rows = scaled(tensor, {.factors = {1, 0, 2}, .inner = 2, .period = 3, .rows = 1});
  EXPECT_EQ(rows.reals(), (std::vector<double>{1, 4, 0, 0, 600, 1200}));
  EXPECT_EQ(permuted(rows, {1, 0}).reals(), (std::vector<double>{1, 0, 600, 4, 0, 1200}));
}

TEST(RecipeTest, ARecipeIsFollowedWithOtherData) {
  const Tensor source = shaped({1, 2, 3, 4, 5, 6}, {2, 3});
  Tensor made = with_dims(permuted(source, {1, 0}), {3, 1, 2}).value();
  made = scaled(made, {.factors = {1, 2, 3}, .inner = 2, .period = 3, .rows = 1});
  EXPECT_EQ(source_type(made).dims, source.dims);
  const Tensor other = rebuilt(made, shaped({10, 20, 30, 40, 50, 60}, {2, 3}));
  EXPECT_EQ(other.dims, made.dims);
  EXPECT_EQ(other.reals(), (std::vector<double>{10, 40, 40, 100, 90, 180}));
  EXPECT_FALSE(with_dims(made, {2, 3}).has_value());
}

TEST(RecipeTest, IntegersMoveToAnotherType) {
  const std::vector<std::byte> bytes = {std::byte{0x80}, std::byte{0xff}, std::byte{0x7f}};
  const Tensor tensor =
      cast_with_offset(Tensor::of_bytes(DType::kInt8, {3}, bytes), DType::kUInt8, 128);
  EXPECT_EQ(tensor.dtype, DType::kUInt8);
  EXPECT_EQ(tensor.stored_dtype(), DType::kInt8);
  EXPECT_EQ(tensor.ints(), (std::vector<std::int64_t>{0, 127, 255}));
}

// Every way that channels can lie in a row, from any element on.
TEST(RecipeTest, ScalesFindTheirChannel) {
  std::vector<float> ones(24, 1);
  const Tensor weight =
      Tensor::of_bytes(DType::kFloat32, {2, 3, 4}, std::as_bytes(std::span(ones)));
  const std::vector<double> factors = {2, 3, 5, 7, 11, 13};
  for (const ChannelScale& scale :
       {ChannelScale{factors, 12, 2, 1}, ChannelScale{factors, 4, 3, 1},
        ChannelScale{factors, 4, 3, 2}, ChannelScale{factors, 1, 4, 6},
        ChannelScale{factors, 1, 3, 4}, ChannelScale{factors, 1, 1, 4}}) {
    const Tensor tensor = scaled(weight, scale);
    for (std::int64_t first = 0; first < 24; ++first) {
      std::vector<double> values(static_cast<std::size_t>(24 - first), 1);
      compute(tensor, first, values);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const std::int64_t element = first + static_cast<std::int64_t>(i);
        EXPECT_EQ(values[i], factors[scale.channel(element)]) << first << " + " << i;
      }
    }
  }
}

// Whichever way axes go after scaling, each element keeps its channel.
TEST(RecipeTest, ScalesFollowTheAxes) {
  const std::vector<float> ones(120, 1);
  const Tensor weight =
      Tensor::of_bytes(DType::kFloat32, {2, 3, 4, 5}, std::as_bytes(std::span(ones)));
  std::vector<double> factors;
  for (int i = 0; i < 120; ++i) factors.push_back(i + 2);
  for (const auto& [inner, period, rows] : {std::array<std::int64_t, 3>{60, 2, 1},
                                            {20, 3, 2},
                                            {20, 6, 1},
                                            {5, 4, 6},
                                            {5, 4, 3},
                                            {1, 5, 24},
                                            {1, 20, 6},
                                            {1, 20, 3},
                                            {10, 2, 3},
                                            {1, 1, 120},
                                            {4, 5, 3}}) {
    const Tensor tensor =
        scaled(weight, {.factors = factors, .inner = inner, .period = period, .rows = rows});
    const std::vector<double> before = tensor.reals().value();
    std::vector<std::int64_t> axes = {0, 1, 2, 3};
    do {
      const Tensor after = permuted(tensor, axes);
      const std::vector<double> values = after.reals().value();
      std::vector<double> expected;
      const std::vector<std::int64_t> strides = {60, 20, 5, 1};
      for (std::int64_t number = 0; number < 120; ++number) {
        std::int64_t rest = number, offset = 0;
        for (std::size_t axis = 4; axis-- > 0; rest /= after.dims[axis])
          offset += rest % after.dims[axis] * strides[static_cast<std::size_t>(axes[axis])];
        expected.push_back(before[static_cast<std::size_t>(offset)]);
      }
      ASSERT_EQ(values, expected) << inner << " " << period << " " << rows;
    } while (std::ranges::next_permutation(axes).found);
  }
}

TEST(RecipeTest, PartsOfACastStackAreCast) {
  const Tensor stack = shaped({1, 2, 3, 4, 5, 6, 7, 8}, {2, 1, 4});
  const Tensor half = cast_with_offset(permuted(stack, {0, 2, 1}), DType::kFloat16, 0);
  ASSERT_TRUE(is_cast_alone(half));
  const Tensor part = part_of_stack(half, 1);
  EXPECT_EQ(part.dtype, DType::kFloat16);
  EXPECT_EQ(part.dims, (std::vector<std::int64_t>{4, 1}));
  EXPECT_EQ(part.reals().value(), (std::vector<double>{5, 6, 7, 8}));
  EXPECT_EQ(part_of_stack(half, 0).reals().value(), (std::vector<double>{1, 2, 3, 4}));
}

}  // namespace
}  // namespace sardonyx::onnx
