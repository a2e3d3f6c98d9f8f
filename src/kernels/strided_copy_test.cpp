#include "kernels/strided_copy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace sardonyx::kernels {
namespace {

std::vector<std::byte> counting(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 2654435761U >> 9);
  return bytes;
}

// Of every element width, with sizes that are no multiples of a tile and from unaligned bytes.
TEST(StridedCopy, TransposesRectangles) {
  constexpr std::int64_t kRows = 77, kColumns = 135;
  for (const std::size_t width : {1U, 2U, 4U, 8U, 16U}) {
    const std::vector<std::byte> bytes = counting(kRows * kColumns * width + 1);
    const std::byte* const from = bytes.data() + 1;
    constexpr std::int64_t kPitch = kColumns + 3;
    std::vector<std::byte> to(kRows * kPitch * width);
    copy_rectangle(from, {kRows, 1}, {kColumns, kRows}, width, to.data(), kPitch);
    for (std::int64_t row = 0; row < kRows; ++row)
      for (std::int64_t column = 0; column < kColumns; ++column)
        ASSERT_EQ(std::memcmp(&to[static_cast<std::size_t>(row * kPitch + column) * width],
                              from + static_cast<std::size_t>(column * kRows + row) * width, width),
                  0)
            << width << ": " << row << ", " << column;
  }
}

TEST(StridedCopy, MergesAxesThatLieTogether) {
  const std::vector<std::int64_t> dims = {2, 1, 3, 4, 5}, strides = {60, 7, 20, 5, 1};
  const std::vector<Axis> merged = merged_axes(dims, strides);
  ASSERT_EQ(merged.size(), 1U);
  EXPECT_EQ(merged[0].size, 120);
  const std::vector<std::int64_t> turned = {4, 2, 3}, apart = {1, 12, 4};
  const std::vector<Axis> axes = merged_axes(turned, apart);
  ASSERT_EQ(axes.size(), 2U);
  EXPECT_EQ(axes[1].size, 6);
  EXPECT_EQ(axes[1].stride, 4);
  EXPECT_EQ(offset_of(axes, 7), 1 + 4);
}

// From any element on, as pieces of a weight are.
TEST(StridedCopy, PacksElementsOfFewBits) {
  const std::vector<std::byte> bytes = counting(64);
  for (const int bits : {2, 4}) {
    const std::vector<Axis> axes = {{7, 1}, {9, 7}};
    std::vector<std::byte> all(63);
    copy_packed(bytes.data(), axes, bits, 0, 63, all.data());
    for (std::int64_t first = 0; first < 63; first += 8 / bits) {
      std::vector<std::byte> rest(63);
      copy_packed(bytes.data(), axes, bits, first, 63 - first, rest.data());
      EXPECT_EQ(std::memcmp(rest.data(), all.data() + first * bits / 8,
                            static_cast<std::size_t>(((63 - first) * bits + 7) / 8)),
                0);
    }
  }
}

}  // namespace
}  // namespace sardonyx::kernels
