// Elements that are made of other bytes whenever somebody reads them: weights that a checkpoint
// holds in a few bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/address_range.h"

namespace sardonyx::onnx {

// float32 elements, row by row, as a matrix. Their addresses number them, and nothing lies there.
class ElementSource {
 public:
  struct Box {
    std::int64_t row, rows, column, columns;
  };

  ElementSource(std::int64_t rows, std::int64_t columns)
      : rows_(rows),
        columns_(columns),
        addresses_(static_cast<std::size_t>(rows * columns) * sizeof(float)) {}
  virtual ~ElementSource() = default;
  ElementSource(const ElementSource&) = delete;
  ElementSource& operator=(const ElementSource&) = delete;

  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  const std::byte* data() const { return addresses_.data(); }

  // The elements of the box, `pitch` floats from one row to the next. Any thread. The same on every
  // processor, and whatever the boxes are.
  virtual void read(const Box& box, float* to, std::int64_t pitch) const = 0;
  // The transpose of the box.
  virtual void read_transposed(const Box& box, float* to, std::int64_t pitch) const;
  // Lets go of the pages that were read.
  virtual void release() const {}

  // Elements one after the other, from number `first` on.
  void read_run(std::int64_t first, std::int64_t count, float* to) const;
  // Those numbered first + i * down + j * across, for `rows` i and `columns` j, row by row.
  void read_strided(std::int64_t first, std::int64_t rows, std::int64_t down, std::int64_t columns,
                    std::int64_t across, float* to) const;

 private:
  std::int64_t rows_, columns_;
  base::AddressRange addresses_;
};

}  // namespace sardonyx::onnx
