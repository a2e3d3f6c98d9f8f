#include "onnx/graph/element_source.h"

#include <algorithm>
#include <vector>

#include "kernels/strided_copy.h"

namespace sardonyx::onnx {

void ElementSource::read_transposed(const Box& box, float* to, std::int64_t pitch) const {
  std::vector<float> tile(static_cast<std::size_t>(box.rows * box.columns));
  read(box, tile.data(), box.columns);
  kernels::copy_rectangle(reinterpret_cast<const std::byte*>(tile.data()), {box.columns, 1},
                          {box.rows, box.columns}, sizeof(float), reinterpret_cast<std::byte*>(to),
                          pitch);
}

void ElementSource::read_run(std::int64_t first, std::int64_t count, float* to) const {
  while (count > 0) {
    const std::int64_t row = first / columns_, column = first % columns_;
    // Whole rows together, and what there is before and after them.
    const bool is_whole = column == 0 && count >= columns_;
    const Box box{row, is_whole ? count / columns_ : 1, column,
                  is_whole ? columns_ : std::min(count, columns_ - column)};
    read(box, to, box.columns);
    const std::int64_t done = box.rows * box.columns;
    first += done;
    to += done;
    count -= done;
  }
}

void ElementSource::read_strided(std::int64_t first, std::int64_t rows, std::int64_t down,
                                 std::int64_t columns, std::int64_t across, float* to) const {
  const std::int64_t row = first / columns_, column = first % columns_;
  const bool is_box =
      across == 1 && (down == columns_ || rows == 1) && column + columns <= columns_;
  if (is_box) return read({row, rows, column, columns}, to, columns);
  // Columns of the matrix as rows.
  const bool is_transposed = across == columns_ && down == 1 && column + rows <= columns_;
  if (is_transposed) return read_transposed({row, columns, column, rows}, to, columns);
  for (std::int64_t i = 0; i < rows; ++i, to += columns) {
    const std::int64_t begin = first + i * down;
    if (across == 1) {
      read_run(begin, columns, to);
      continue;
    }
    for (std::int64_t j = 0; j < columns; ++j) read_run(begin + j * across, 1, to + j);
  }
}

}  // namespace sardonyx::onnx
