#include "kernels/dequantize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "kernels/element.h"
#include "kernels/ggml_blocks.h"
#include "kernels/targets.h"

namespace sardonyx::kernels {
namespace {

std::vector<std::byte> random_bytes(std::size_t count) {
  std::mt19937 random(7);
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

// Compares bits: NaN is equal to itself.
void expect_same(std::span<const float> found, std::span<const float> expected) {
  ASSERT_EQ(found.size(), expected.size());
  EXPECT_EQ(std::memcmp(found.data(), expected.data(), found.size_bytes()), 0);
}

TEST(GgmlBlocks, AreTheSameOnEveryTarget) {
  constexpr std::int64_t kCount = 9;
  for (const GgmlBlock& block : ggml_blocks()) {
    const auto bytes = random_bytes(static_cast<std::size_t>(kCount * block.bytes));
    std::vector<std::vector<float>> found;
    for_each_target([&](const char*) {
      found.emplace_back(static_cast<std::size_t>(kCount * block.elements));
      dequantize_blocks(block, bytes.data(), kCount, found.back().data());
    });
    for (const auto& each : found) expect_same(each, found.front());
  }
}

TEST(GgmlBlocks, AreWhatTheirLayoutSays) {
  std::vector<std::byte> block(18);
  block[1] = std::byte{0x38};  // float16 0.5
  block[2] = std::byte{0xF0};  // codes 0 and 15 of elements 0 and 16
  std::vector<float> values(32);
  dequantize_blocks(*ggml_block("Q4_0"), block.data(), 1, values.data());
  EXPECT_EQ(values[0], -4.0F);
  EXPECT_EQ(values[16], 3.5F);
  EXPECT_EQ(ggml_block(17), nullptr);
}

// A matrix of words with codes at random, and scales for groups of rows and columns.
struct Packing {
  int bits, word_bytes;
  bool packs_rows, has_zeros, has_offsets, has_table, has_index;
};

struct Matrix {
  std::vector<std::byte> words;
  std::vector<float> scales, zeros, offsets, table;
  std::vector<std::int32_t> index;
  CodeMatrix codes;
  GroupScales groups;
};

Matrix matrix_of(const Packing& own) {
  Matrix made;
  const int in_word = own.word_bytes * 8 / own.bits;
  made.codes.rows = 2 * in_word * 3;
  made.codes.columns = 24 * in_word;
  made.codes.bits = own.bits;
  made.codes.word_bytes = own.word_bytes;
  made.codes.packs_rows = own.packs_rows;
  for (int i = 0; i < in_word; ++i)
    made.codes.order[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(in_word - 1 - i);
  made.words = random_bytes(
      static_cast<std::size_t>(made.codes.rows * made.codes.columns / in_word * own.word_bytes));
  made.codes.words = made.words.data();
  for (int i = 0; own.has_table && i < 1 << own.bits; ++i)
    made.table.push_back(std::sin(static_cast<float>(i)));
  made.codes.table = made.table;
  made.groups.row_groups = 2;
  made.groups.rows.size = made.codes.rows / 2;
  made.groups.column_groups = 5;
  made.groups.columns.size = (made.codes.columns + 4) / 5;
  for (std::int64_t i = 0; own.has_index && i < made.codes.columns; ++i)
    made.index.push_back(static_cast<std::int32_t>(i * 7 % 5));
  made.groups.columns.index = made.index;
  for (int i = 0; i < 10; ++i) {
    const auto number = static_cast<float>(i);
    made.scales.push_back(0.1F + number);
    made.zeros.push_back(number * 1.5F);
    made.offsets.push_back(1.0F / (number + 3));
  }
  made.groups.scales = made.scales.data();
  if (own.has_zeros) made.groups.zeros = made.zeros.data();
  if (own.has_offsets) made.groups.offsets = made.offsets.data();
  return made;
}

// Element by element, as the header says.
std::vector<float> expected_of(const Matrix& matrix) {
  const CodeMatrix& codes = matrix.codes;
  const int in_word = codes.codes_in_word();
  std::vector<float> values;
  for (std::int64_t row = 0; row < codes.rows; ++row)
    for (std::int64_t column = 0; column < codes.columns; ++column) {
      const std::int64_t word = codes.packs_rows ? row / in_word * codes.columns + column
                                                 : (row * codes.columns + column) / in_word;
      const auto place = static_cast<std::size_t>((codes.packs_rows ? row : column) % in_word);
      std::uint32_t bits = 0;
      std::memcpy(&bits, codes.words + word * codes.word_bytes,
                  static_cast<std::size_t>(codes.word_bytes));
      const std::uint32_t code =
          bits >> (codes.order[place] * codes.bits) & ((1U << codes.bits) - 1);
      float value = matrix.table.empty() ? static_cast<float>(code) : matrix.table[code];
      const auto group = static_cast<std::size_t>(matrix.groups.rows.group(row) * 5 +
                                                  matrix.groups.columns.group(column));
      if (matrix.groups.zeros) value -= matrix.zeros[group];
      value *= matrix.scales[group];
      if (matrix.groups.offsets) value += matrix.offsets[group];
      values.push_back(value);
    }
  return values;
}

std::size_t at(std::int64_t row, std::int64_t pitch, std::int64_t column) {
  return static_cast<std::size_t>(row * pitch + column);
}

TEST(Dequantize, IsWhatTheHeaderSaysOnEveryTarget) {
  for (const Packing& own : {Packing{4, 4, true, true, false, false, false},
                             Packing{4, 4, false, true, false, false, false},
                             Packing{2, 4, true, true, false, false, true},
                             Packing{8, 4, false, true, false, false, true},
                             Packing{4, 1, false, false, true, false, false},
                             Packing{4, 1, false, false, false, true, false},
                             Packing{4, 1, true, true, true, true, true}}) {
    Matrix matrix = matrix_of(own);
    ASSERT_TRUE(is_valid(matrix.codes) && is_valid(matrix.groups, matrix.codes));
    const std::vector<float> expected = expected_of(matrix);
    const std::int64_t rows = matrix.codes.rows, columns = matrix.codes.columns;
    for_each_target([&](const char*) {
      std::vector<float> found(expected.size()), turned(expected.size());
      // In boxes whose edges are no words' or groups'.
      const std::int64_t left = columns / 2 - 1;
      for (const Box& box : {Box{0, 3, 0, left}, Box{0, 3, left, columns - left},
                             Box{3, rows - 3, 0, left}, Box{3, rows - 3, left, columns - left}}) {
        dequantize(matrix.codes, matrix.groups, box, &found[at(box.row, columns, box.column)],
                   columns);
        dequantize_transposed(matrix.codes, matrix.groups,
                              {box.column, box.columns, box.row, box.rows},
                              &turned[at(box.column, rows, box.row)], rows);
      }
      expect_same(found, expected);
      for (std::int64_t i = 0; i < rows * columns; ++i)
        found[static_cast<std::size_t>(i)] =
            turned[static_cast<std::size_t>(i % columns * rows + i / columns)];
      expect_same(found, expected);
    });
  }
}

TEST(Dequantize, TakesElementsOfATypeAsCodes) {
  const auto bytes = random_bytes(64);
  CodeMatrix codes{bytes.data(), 4, 16, base::DType::kFloat8E4M3FN};
  const std::vector<float> scales = {2, 3};
  const GroupScales groups{scales.data(), nullptr, nullptr, 2, 1, {2}, {16}};
  ASSERT_TRUE(is_valid(codes) && is_valid(groups, codes));
  std::vector<float> values(64);
  dequantize(codes, groups, {0, 4, 0, 16}, values.data(), 16);
  for (std::size_t i = 0; i < 64; ++i) {
    const double value = load_real(codes.dtype, &bytes[i]);
    if (std::isnan(value)) continue;
    EXPECT_EQ(values[i], static_cast<float>(value) * scales[i / 32]);
  }
}

TEST(Dequantize, FormsThatDoNotFitAreNotValid) {
  const std::vector<float> scales(4);
  const std::vector<std::int32_t> index = {0, 1, 2, -1};
  CodeMatrix codes;
  codes.rows = codes.columns = 4;
  GroupScales groups{scales.data(), nullptr, nullptr, 2, 2, {2}, {2}};
  EXPECT_TRUE(is_valid(groups, codes));
  groups.columns.size = 1;
  EXPECT_FALSE(is_valid(groups, codes));
  groups.columns.index = index;
  EXPECT_FALSE(is_valid(groups, codes));
  codes.bits = 3;
  EXPECT_FALSE(is_valid(codes));
  codes.bits = 4;
  EXPECT_TRUE(is_valid(codes));
  codes.order[1] = 2;
  EXPECT_FALSE(is_valid(codes));
}

}  // namespace
}  // namespace sardonyx::kernels
