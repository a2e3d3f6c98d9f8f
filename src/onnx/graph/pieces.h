// A tensor's elements as bytes, piece by piece: threads make pieces at once, and what they make is
// the same whoever makes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "onnx/graph/tensor.h"

namespace sardonyx::onnx {

class Pieces {
 public:
  virtual ~Pieces() = default;
  virtual std::size_t count() const = 0;
  virtual std::size_t size(std::size_t piece) const = 0;  // in bytes
  // Writes a piece to `to`. Any thread, any order, each piece once.
  virtual void make(std::size_t piece, std::byte* to) = 0;
};

// Calls sink(bytes) for the pieces in their order. They are made on as many threads as there are
// processors for where there is enough to do; thread 0 is the caller's.
using PieceSink = std::function<void(std::span<const std::byte> bytes, std::size_t thread)>;
void put_pieces(Pieces& pieces, const PieceSink& sink);

// The same on all threads at once, in no order: what visit() does with different pieces must not
// meet.
using PieceVisit = std::function<void(std::size_t piece, std::span<const std::byte> bytes)>;
void visit_pieces(Pieces& pieces, const PieceVisit& visit);

// Pieces of the elements in row-major order, as `dtype` has them; by default the tensor's own,
// whose elements of less than a byte are packed. Each step of a recipe is computed in float64, and
// the last one rounded. The tensor has data and elements, is borrowed, and is no derivation.
std::unique_ptr<Pieces> pieces_of(const Tensor& tensor);
std::unique_ptr<Pieces> pieces_of(const Tensor& tensor, base::DType dtype);

// Elements of a tensor as a matrix: its last axis and all the others. Each thread has a reader of
// its own.
class MatrixReader {
 public:
  // One dim, a row then, or two; borrowed, with data, and no derivation.
  explicit MatrixReader(const Tensor& matrix);

  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  // Rows [row, row + rows) of columns [column, column + columns) as `dtype`, `pitch` elements from
  // one row to the next.
  void read(std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns,
            base::DType dtype, std::byte* to, std::int64_t pitch) const;

 private:
  const Tensor& tensor_;
  std::int64_t rows_, columns_;
  std::int64_t down_, across_;  // strides, in elements
};

}  // namespace sardonyx::onnx
