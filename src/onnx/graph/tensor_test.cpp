#include "onnx/graph/tensor.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "onnx/graph/small_float.h"

namespace sardonyx::onnx {
namespace {

using base::DType;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(SmallFloat, EveryPatternComesBack) {
  for (const DType dtype :
       {DType::kFloat16, DType::kBFloat16, DType::kFloat8E4M3FN, DType::kFloat8E4M3FNUZ,
        DType::kFloat8E5M2, DType::kFloat8E5M2FNUZ, DType::kFloat8E8M0, DType::kFloat4E2M1}) {
    const std::uint32_t patterns = 1U << base::bit_width(dtype);
    for (std::uint32_t bits = 0; bits < patterns; ++bits) {
      const float value = decode_small_float(dtype, bits);
      if (std::isnan(value)) continue;
      ASSERT_EQ(encode_small_float(dtype, value), bits) << base::dtype_name(dtype) << " " << value;
    }
  }
}

TEST(SmallFloat, RoundsToNearestEvenAndOverflowsAsPyTorch) {
  EXPECT_EQ(encode_small_float(DType::kFloat16, 1.0F), 0x3c00U);
  EXPECT_EQ(encode_small_float(DType::kFloat16, 65504.0F), 0x7bffU);
  EXPECT_EQ(encode_small_float(DType::kFloat16, 65519.0F), 0x7bffU);
  EXPECT_EQ(encode_small_float(DType::kFloat16, 65520.0F), 0x7c00U);
  EXPECT_EQ(encode_small_float(DType::kFloat16, 2049.0F),
            encode_small_float(DType::kFloat16, 2048));
  EXPECT_EQ(encode_small_float(DType::kFloat16, 5.9604645e-08F), 1U);
  EXPECT_EQ(encode_small_float(DType::kFloat16, 2.9802322e-08F), 0U);
  EXPECT_EQ(encode_small_float(DType::kBFloat16, 0.1F), 0x3dcdU);
  EXPECT_EQ(encode_small_float(DType::kFloat8E4M3FN, 448.0F), 0x7eU);
  EXPECT_EQ(encode_small_float(DType::kFloat8E4M3FN, 1000.0F), 0x7fU);
  EXPECT_EQ(encode_small_float(DType::kFloat8E5M2, kInfinity), 0x7cU);
  EXPECT_EQ(encode_small_float(DType::kFloat8E4M3FNUZ, -0.0F), 0U);
  EXPECT_EQ(encode_small_float(DType::kFloat8E8M0, 4.0F), 129U);
}

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
