#include "base/dtype.h"

#include <gtest/gtest.h>

namespace sardonyx::base {
namespace {

TEST(DTypeTest, NamesComeBack) {
  EXPECT_EQ(dtype_name(DType::kBFloat16), "bfloat16");
  EXPECT_EQ(dtype_from_name("torch.long"), DType::kInt64);
  EXPECT_EQ(dtype_from_name("half"), DType::kFloat16);
  EXPECT_EQ(dtype_from_name("no such type"), std::nullopt);
}

TEST(DTypeTest, SmallTypesArePacked) {
  EXPECT_EQ(bit_width(DType::kInt4), 4);
  EXPECT_EQ(byte_size(DType::kInt4, 3), 2);
  EXPECT_EQ(byte_size(DType::kFloat64, 3), 24);
  EXPECT_EQ(byte_size(DType::kFloat32, INT64_MAX / 2), INT64_MAX);
}

TEST(DTypeTest, PromotesAsPyTorch) {
  EXPECT_EQ(promote(DType::kInt64, DType::kFloat16), DType::kFloat16);
  EXPECT_EQ(promote(DType::kUInt8, DType::kInt8), DType::kInt16);
  EXPECT_EQ(promote(DType::kFloat16, DType::kBFloat16), DType::kFloat32);
  EXPECT_EQ(promote(DType::kBool, DType::kBool), DType::kBool);
}

}  // namespace
}  // namespace sardonyx::base
