// Matrices of codes of a few bits, with scales and zero points for groups of them, and the values
// that they stand for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/dtype.h"

namespace sardonyx::kernels {

// Which scale a row or a column has: `index` where the groups are listed, otherwise `size` rows
// (columns) one after the other share one.
struct Grouping {
  std::int64_t size = 1;
  std::span<const std::int32_t> index = {};

  std::int64_t group(std::int64_t at) const {
    return index.empty() ? at / size : index[static_cast<std::size_t>(at)];
  }
};

// A matrix [rows, columns] of codes. Several lie in one word, from its lowest bits on; the words
// lie row by row.
struct CodeMatrix {
  const std::byte* words = nullptr;
  std::int64_t rows = 0, columns = 0;
  // Where a word has one code: the type of that.
  base::DType dtype = base::DType::kUInt8;
  int bits = 8;        // of a code
  int word_bytes = 1;  // 1 or 4 where a word has several codes
  // Whether the codes of a word follow one another in a column, rather than in a row.
  bool packs_rows = false;
  // Code i of a word is number order[i] from its lowest bits on.
  std::array<std::uint8_t, 32> order = {};
  // What codes of up to 4 bits stand for; for themselves where it is empty.
  std::span<const float> table = {};

  int codes_in_word() const { return word_bytes * 8 / bits; }
};
// Whether a word of codes can be read: bits, word_bytes, order and table fit each other.
bool is_valid(const CodeMatrix& codes);

// value = (code - zero) * scale + offset in float32, each rounded, with the scale, zero and offset
// [row groups, column groups] of the code's groups. Without zeros, or offsets, that step is left
// out.
struct GroupScales {
  const float* scales = nullptr;
  const float* zeros = nullptr;
  const float* offsets = nullptr;
  std::int64_t row_groups = 1, column_groups = 1;
  Grouping rows, columns;
};

// Whether every row and column of the codes has a group, and every group has some.
bool is_valid(const GroupScales& scales, const CodeMatrix& codes);

// Rows and columns of a matrix.
struct Box {
  std::int64_t row, rows, column, columns;
};
// The values of the box, `pitch` floats from one row to the next. The same on every processor.
void dequantize(const CodeMatrix& codes, const GroupScales& scales, const Box& box, float* values,
                std::int64_t pitch);
// Those of a box of the transpose.
void dequantize_transposed(const CodeMatrix& codes, const GroupScales& scales, const Box& box,
                           float* values, std::int64_t pitch);

}  // namespace sardonyx::kernels
