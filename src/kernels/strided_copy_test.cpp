#include "kernels/strided_copy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "kernels/targets.h"

namespace sardonyx::kernels {
namespace {

std::vector<std::byte> counting(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 2654435761U >> 9);
  return bytes;
}

// `rows` x `columns` elements at `from`, whose strides are `down` and `across`, one by one.
std::vector<std::byte> by_elements(const std::byte* from, Axis rows, Axis columns,
                                   std::size_t width, std::vector<std::byte> to,
                                   std::int64_t pitch) {
  const auto size = static_cast<std::int64_t>(width);
  for (std::int64_t row = 0; row < rows.size; ++row)
    for (std::int64_t column = 0; column < columns.size; ++column)
      std::memcpy(&to[static_cast<std::size_t>((row * pitch + column) * size)],
                  from + (row * rows.stride + column * columns.stride) * size, width);
  return to;
}

// Of every element width, with sizes that are no multiples of a tile or of a vector and from
// unaligned bytes; what stands between the rows of the result stays.
TEST(StridedCopy, TransposesRectanglesOnEveryTarget) {
  struct Size {
    std::int64_t rows, columns;
  };
  for (const std::size_t width : {1U, 2U, 4U, 8U, 16U})
    for (const auto& [rows, columns] : {Size{77, 135}, {128, 64}, {3, 200}, {150, 5}, {16, 17}})
      for (const std::int64_t step : {1, 2}) {  // of the rows; dense ones have kernels of their own
        const std::int64_t stride = rows * step + 3, pitch = columns + 3;
        const auto elements = static_cast<std::size_t>(stride * columns);
        const std::vector<std::byte> bytes = counting(elements * width + 1);
        const std::vector<std::byte> before(static_cast<std::size_t>(rows * pitch) * width + 1,
                                            std::byte{0x77});
        const std::vector<std::byte> expected =
            by_elements(bytes.data() + 1, {rows, step}, {columns, stride}, width, before, pitch);
        for_each_target([&](const char* target) {
          std::vector<std::byte> to = before;
          copy_rectangle(bytes.data() + 1, {rows, step}, {columns, stride}, width, to.data(),
                         pitch);
          EXPECT_TRUE(to == expected) << target << ": " << width << " bytes, " << rows << " x "
                                      << columns << ", step " << step;
        });
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
