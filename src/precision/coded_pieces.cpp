#include "precision/coded_pieces.h"

#include <algorithm>

#include "base/at_once.h"

namespace sardonyx::precision {

Pieces::Pieces(const onnx::Tensor& matrix, const BlockForm& form, std::int64_t rows,
               std::int64_t columns)
    : matrix_(matrix), form_(form), rows_(std::min(rows, matrix.dims[0])) {
  const std::int64_t pieces = rows_ == 0 ? 0 : (matrix.dims[0] + rows_ - 1) / rows_;
  desks_.resize(std::min(base::processors(), static_cast<std::size_t>(pieces)));
  for (Desk& desk : desks_) {
    desk.reader = std::make_unique<WeightReader>(matrix);
    desk.weights.resize(static_cast<std::size_t>(rows_ * columns));
    desk.codes.resize(desk.weights.size());
  }
}

void Pieces::code(std::int64_t column, std::int64_t width,
                  const std::function<BlockScale*(std::int64_t)>& scales,
                  const std::function<void(const Piece&)>& take) {
  const std::int64_t end = matrix_.dims[0];
  for (std::int64_t row = 0; row < end;) {
    std::size_t busy = 0;
    for (; busy < desks_.size() && row < end; ++busy, row += rows_) {
      Desk& desk = desks_[busy];
      desk.piece = {row,         std::min(rows_, end - row), width,
                    scales(row), desk.codes.data(),          CodingError()};
    }
    base::at_once(busy, [&](std::size_t number) {
      Desk& desk = desks_[number];
      Piece& piece = desk.piece;
      desk.reader->read(piece.row, piece.count, column, width, desk.weights);
      piece.error =
          code_blocks(desk.weights.data(), piece.count, width, form_, piece.codes, piece.scales);
    });
    for (std::size_t number = 0; number < busy; ++number) take(desks_[number].piece);
  }
}

}  // namespace sardonyx::precision
