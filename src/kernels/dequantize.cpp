#include "kernels/dequantize.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/cast.h"
#include "kernels/dequantize_vectors.h"
#include "kernels/transpose.h"

namespace sardonyx::kernels {
namespace {

// Columns that are worked on at a time: what they are in between stays in the nearest cache.
constexpr std::int64_t kTileColumns = 1024;
// Rows that are transposed at a time.
constexpr std::int64_t kTileRows = 64;

std::size_t size_of(std::int64_t count) { return static_cast<std::size_t>(count); }

// The scales, zeros and offsets of the columns of a tile, for one group of rows.
class TileScales {
 public:
  TileScales(const GroupScales& all, std::int64_t first, std::int64_t count)
      : all_(all), groups_(size_of(count)) {
    for (std::int64_t i = 0; i < count; ++i)
      groups_[size_of(i)] = static_cast<std::int32_t>(all.columns.group(first + i));
  }

  // Applies those of a row to its values.
  void apply(std::int64_t row, float* values) {
    const std::int64_t group = all_.rows.group(row);
    if (group != group_) {
      group_ = group;
      spread(all_.scales, scales_);
      spread(all_.zeros, zeros_);
      spread(all_.offsets, offsets_);
    }
    apply_scales(values, scales_.data(), all_.zeros ? zeros_.data() : nullptr,
                 all_.offsets ? offsets_.data() : nullptr, groups_.size());
  }

 private:
  void spread(const float* from, std::array<float, kTileColumns>& to) const {
    if (from == nullptr) return;
    const float* const row = from + group_ * all_.column_groups;
    for (std::size_t i = 0; i < groups_.size(); ++i) to[i] = row[groups_[i]];
  }

  const GroupScales& all_;
  std::vector<std::int32_t> groups_;
  std::int64_t group_ = -1;
  std::array<float, kTileColumns> scales_, zeros_, offsets_;
};

std::uint32_t word_at(const CodeMatrix& codes, std::int64_t word) {
  std::uint32_t value = 0;
  const auto width = size_of(codes.word_bytes);
  std::memcpy(&value, codes.words + size_of(word) * width, width);
  return value;
}

// The codes of a row whose words have codes of one row.
void unpack_row(const CodeMatrix& codes, std::int64_t row, std::int64_t first, std::int64_t count,
                float* values) {
  const std::int64_t in_word = codes.codes_in_word();
  const std::int64_t words = (codes.columns + in_word - 1) / in_word;
  const std::uint32_t mask = (1U << codes.bits) - 1;
  for (std::int64_t i = 0; i < count;) {
    const std::uint32_t word = word_at(codes, row * words + (first + i) / in_word);
    for (std::int64_t place = (first + i) % in_word; place < in_word && i < count; ++place, ++i)
      values[i] = static_cast<float>(word >> (codes.order[size_of(place)] * codes.bits) & mask);
  }
}

// The codes of a row whose words have codes of one column.
void unpack_columns(const CodeMatrix& codes, std::int64_t row, std::int64_t first,
                    std::int64_t count, float* values) {
  const std::int64_t in_word = codes.codes_in_word();
  const int shift = codes.order[size_of(row % in_word)] * codes.bits;
  const std::int64_t word = row / in_word * codes.columns + first;
  if (codes.word_bytes == 4) {
    codes_of_words(codes.words + word * 4, shift, codes.bits, size_of(count), values);
    return;
  }
  const std::uint32_t mask = (1U << codes.bits) - 1;
  for (std::int64_t i = 0; i < count; ++i)
    values[i] = static_cast<float>(word_at(codes, word + i) >> shift & mask);
}

// The codes of columns [first, first + count) of a row, as numbers.
void read_codes(const CodeMatrix& codes, std::int64_t row, std::int64_t first, std::int64_t count,
                float* values) {
  if (codes.codes_in_word() == 1) {
    to_floats(codes.dtype, codes.words + (row * codes.columns + first) * codes.word_bytes,
              std::span(values, size_of(count)));
    return;
  }
  if (codes.packs_rows) return unpack_columns(codes, row, first, count, values);
  const bool in_pairs =
      codes.word_bytes == 1 && codes.bits == 4 && codes.order[0] == 0 && codes.columns % 2 == 0;
  if (in_pairs && first % 2 == 0 && count % 2 == 0) {
    codes_of_bytes(codes.words + (row * codes.columns + first) / 2, size_of(count / 2), values);
    return;
  }
  unpack_row(codes, row, first, count, values);
}

void look_up(std::span<const float> table, std::int64_t count, float* values) {
  for (std::int64_t i = 0; i < count; ++i) values[i] = table[static_cast<std::size_t>(values[i])];
}

// Rows and columns of the matrix, to rows that are `pitch` apart.
void dequantize_box(const CodeMatrix& codes, TileScales& scales, std::int64_t row,
                    std::int64_t rows, std::int64_t column, std::int64_t columns, float* to,
                    std::int64_t pitch) {
  for (std::int64_t i = 0; i < rows; ++i) {
    float* const values = to + i * pitch;
    read_codes(codes, row + i, column, columns, values);
    if (!codes.table.empty()) look_up(codes.table, columns, values);
    scales.apply(row + i, values);
  }
}

bool covers(const Grouping& grouping, std::int64_t count, std::int64_t groups) {
  if (count == 0) return true;
  if (grouping.index.empty()) return grouping.size > 0 && (count - 1) / grouping.size == groups - 1;
  return std::cmp_equal(grouping.index.size(), count) &&
         std::ranges::all_of(grouping.index,
                             [groups](std::int32_t group) { return group >= 0 && group < groups; });
}

}  // namespace

bool is_valid(const CodeMatrix& codes) {
  if (codes.bits < 1 || codes.bits > 64 || codes.word_bytes < 1) return false;
  const int count = codes.codes_in_word();
  if (count == 1)
    return codes.bits == 8 * codes.word_bytes && base::bit_width(codes.dtype) == codes.bits &&
           codes.table.empty();
  if (codes.word_bytes != 1 && codes.word_bytes != 4) return false;
  if (count == 0 || count * codes.bits != 8 * codes.word_bytes) return false;
  if (!codes.table.empty() && codes.table.size() != std::size_t{1} << codes.bits) return false;
  return std::ranges::all_of(std::span(codes.order).first(size_of(count)),
                             [count](std::uint8_t place) { return place < count; });
}

bool is_valid(const GroupScales& scales, const CodeMatrix& codes) {
  return scales.scales != nullptr && covers(scales.rows, codes.rows, scales.row_groups) &&
         covers(scales.columns, codes.columns, scales.column_groups);
}

void dequantize(const CodeMatrix& codes, const GroupScales& scales, const Box& box, float* values,
                std::int64_t pitch) {
  for (std::int64_t done = 0; done < box.columns; done += kTileColumns) {
    const std::int64_t columns = std::min(kTileColumns, box.columns - done);
    TileScales tile(scales, box.column + done, columns);
    dequantize_box(codes, tile, box.row, box.rows, box.column + done, columns, values + done,
                   pitch);
  }
}

void dequantize_transposed(const CodeMatrix& codes, const GroupScales& scales, const Box& box,
                           float* values, std::int64_t pitch) {
  std::vector<float> buffer(size_of(kTileRows * std::min(kTileColumns, box.rows)));
  for (std::int64_t below = 0; below < box.rows; below += kTileColumns) {
    const std::int64_t columns = std::min(kTileColumns, box.rows - below);
    TileScales tile(scales, box.row + below, columns);
    for (std::int64_t aside = 0; aside < box.columns; aside += kTileRows) {
      const std::int64_t rows = std::min(kTileRows, box.columns - aside);
      dequantize_box(codes, tile, box.column + aside, rows, box.row + below, columns, buffer.data(),
                     columns);
      transpose(reinterpret_cast<const std::byte*>(buffer.data()), columns, columns, rows,
                sizeof(float), reinterpret_cast<std::byte*>(values + below * pitch + aside), pitch);
    }
  }
}

}  // namespace sardonyx::kernels
