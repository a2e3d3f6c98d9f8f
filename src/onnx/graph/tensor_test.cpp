#include "onnx/graph/tensor.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace sardonyx::onnx {
namespace {

using base::DType;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(Tensor, IntegersWrapAndTruncate) {
  EXPECT_EQ(Tensor::filled_int(DType::kInt8, {2}, 130).ints(),
            (std::vector<std::int64_t>{-126, -126}));
  EXPECT_EQ(Tensor::filled(DType::kInt32, {}, -1.75).ints(), std::vector<std::int64_t>{-1});
  EXPECT_EQ(Tensor::filled(DType::kBool, {1}, 0.5).ints(), std::vector<std::int64_t>{1});
  EXPECT_EQ(Tensor::filled(DType::kFloat32, {}, 0.1).reals()->front(), 0.1F);
  EXPECT_EQ(Tensor::filled(DType::kFloat32, {}, 0.1).ints(), std::nullopt);
}

TEST(Tensor, ComplexNumbersAreRealAndImaginary) {
  const Tensor filled = Tensor::filled(DType::kComplex64, {2}, 1.5);
  std::array<float, 4> numbers{};
  std::memcpy(numbers.data(), filled.data, sizeof numbers);
  EXPECT_EQ(numbers, (std::array{1.5F, 0.0F, 1.5F, 0.0F}));
  const Tensor whole = Tensor::filled_int(DType::kComplex128, {}, 3);
  std::array<double, 2> number{};
  std::memcpy(number.data(), whole.data, sizeof number);
  EXPECT_EQ(number, (std::array{3.0, 0.0}));
}

TEST(Tensor, PackedIntegers) {
  const Tensor int4 = Tensor::filled_int(DType::kInt4, {3}, -3);
  EXPECT_EQ(int4.byte_count(), 2);
  EXPECT_EQ(int4.ints(), (std::vector<std::int64_t>{-3, -3, -3}));
  EXPECT_EQ(Tensor::filled_int(DType::kUInt2, {5}, 3).ints(),
            (std::vector<std::int64_t>{3, 3, 3, 3, 3}));
}

TEST(Tensor, ReadsThroughStrides) {
  Tensor t = Tensor::of_ints(std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}, {2, 3});
  EXPECT_TRUE(t.contiguous());
  t.dims = {3, 2};
  t.strides = {1, 3};
  EXPECT_FALSE(t.contiguous());
  EXPECT_EQ(t.ints(), (std::vector<std::int64_t>{0, 3, 1, 4, 2, 5}));
  t.strides = {0, 3};
  EXPECT_EQ(t.ints(), (std::vector<std::int64_t>{0, 3, 0, 3, 0, 3}));
  t.dims = {0, 2};
  EXPECT_TRUE(t.contiguous());
  EXPECT_TRUE(t.ints()->empty());
}

TEST(Tensor, MissingDataHasNoElements) {
  Tensor t;
  t.dtype = DType::kInt64;
  t.dims = {2};
  t.missing = true;
  EXPECT_EQ(t.ints(), std::nullopt);
  EXPECT_EQ(t.reals(), std::nullopt);
}

}  // namespace
}  // namespace sardonyx::onnx
