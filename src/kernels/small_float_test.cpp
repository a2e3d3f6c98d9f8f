#include "kernels/small_float.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace sardonyx::kernels {
namespace {

using base::DType;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(SmallFloat, EveryPatternComesBack) {
  for (const DType dtype :
       {DType::kFloat16, DType::kBFloat16, DType::kFloat8E4M3FN, DType::kFloat8E4M3FNUZ,
        DType::kFloat8E5M2, DType::kFloat8E5M2FNUZ, DType::kFloat8E8M0, DType::kFloat4E2M1,
        DType::kFloat6E2M3, DType::kFloat6E3M2}) {
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

}  // namespace
}  // namespace sardonyx::kernels
