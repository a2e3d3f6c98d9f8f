// A matrix coded in pieces of some rows, each on a thread of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "onnx/graph/tensor.h"
#include "precision/block_codes.h"
#include "precision/weight_reader.h"

namespace sardonyx::precision {

// Rows [row, row + count) of some columns, coded.
struct Piece {
  std::int64_t row = 0, count = 0, width = 0;
  BlockScale* scales = nullptr;  // of its blocks, row by row
  std::uint8_t* codes = nullptr;
  CodingError error;

  std::span<std::uint8_t> coded() const { return {codes, static_cast<std::size_t>(count * width)}; }
};

class Pieces {
 public:
  // Pieces have `rows` rows, and `columns` columns at most, so that what comes out does not hang on
  // how many threads there are. `matrix` is borrowed, and has data.
  Pieces(const onnx::Tensor& matrix, const BlockForm& form, std::int64_t rows,
         std::int64_t columns);

  // Codes columns [column, column + width) of all rows. `scales` says where those of a row begin;
  // `take` gets the pieces one after the other, in order.
  void code(std::int64_t column, std::int64_t width,
            const std::function<BlockScale*(std::int64_t)>& scales,
            const std::function<void(const Piece&)>& take);

 private:
  // What a thread works with.
  struct Desk {
    std::unique_ptr<WeightReader> reader;
    std::vector<float> weights;
    std::vector<std::uint8_t> codes;
    Piece piece;
  };

  const onnx::Tensor& matrix_;
  BlockForm form_;
  std::int64_t rows_;
  std::vector<Desk> desks_;
};

}  // namespace sardonyx::precision
