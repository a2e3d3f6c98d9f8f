#include "precision/weight_reader.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/mapped_file.h"
#include "onnx/graph/joined.h"
#include "onnx/graph/recipe.h"

namespace sardonyx::precision {
namespace {

// Letting go of pages costs a run over all of the tensor's.
constexpr std::int64_t kResidentBytes = std::int64_t{16} << 20;

}  // namespace

WeightReader::WeightReader(const onnx::Tensor& matrix)
    : matrix_(matrix),
      down_(matrix.strides.empty() ? matrix.dims[1] : matrix.strides[0]),
      across_(matrix.strides.empty() ? 1 : matrix.strides[1]) {
  const onnx::Joined* joined = onnx::joined_of(matrix);
  if (joined == nullptr) return;
  std::int64_t row = 0, column = 0;
  for (const onnx::Tensor& part : joined->parts()) {
    parts_.push_back(
        {std::make_unique<WeightReader>(part), row, column, part.dims[0], part.dims[1]});
    (joined->axis() == 0 ? row : column) += part.dims[joined->axis()];
  }
}

WeightReader::~WeightReader() {
  if (parts_.empty()) base::release_pages(onnx::extent(matrix_));
}

void WeightReader::read(std::int64_t row, std::int64_t rows, std::int64_t column,
                        std::int64_t columns, std::span<float> weights) {
  if (!parts_.empty()) return read_parts(row, rows, column, columns, weights);
  if (matrix_.as_it_lies() && matrix_.dtype == base::DType::kFloat32) {
    read_floats(row, rows, column, columns, weights.data());
  } else {
    for (std::int64_t i = 0; i < rows; ++i)
      compute_row(row + i, column, columns, weights.data() + i * columns);
  }
  resident_ += rows * columns * base::bit_width(matrix_.stored_dtype()) / 8;
  if (resident_ < kResidentBytes) return;
  base::release_pages(onnx::extent(matrix_));
  resident_ = 0;
}

// Of each part what it has of the piece that is asked for.
void WeightReader::read_parts(std::int64_t row, std::int64_t rows, std::int64_t column,
                              std::int64_t columns, std::span<float> weights) {
  std::vector<float> piece;
  for (const Part& part : parts_) {
    const std::int64_t top = std::max(row, part.row), left = std::max(column, part.column);
    const std::int64_t high = std::min(row + rows, part.row + part.rows) - top,
                       wide = std::min(column + columns, part.column + part.columns) - left;
    if (high <= 0 || wide <= 0) continue;
    piece.resize(static_cast<std::size_t>(high * wide));
    part.reader->read(top - part.row, high, left - part.column, wide, piece);
    for (std::int64_t i = 0; i < high; ++i)
      std::copy_n(piece.data() + i * wide, wide,
                  weights.data() + (top - row + i) * columns + left - column);
  }
}

void WeightReader::read_floats(std::int64_t row, std::int64_t rows, std::int64_t column,
                               std::int64_t columns, float* weights) const {
  const std::byte* const from =
      matrix_.data + (row * down_ + column * across_) * std::int64_t{sizeof(float)};
  const auto at = [&](std::int64_t i, std::int64_t k) {  // may lie unaligned
    return from + (i * down_ + k * across_) * std::int64_t{sizeof(float)};
  };
  if (across_ == 1) {
    for (std::int64_t i = 0; i < rows; ++i)
      std::memcpy(weights + i * columns, at(i, 0),
                  static_cast<std::size_t>(columns) * sizeof(float));
    return;
  }
  // Rows lie across memory: a square at a time, so that what a cache line has of each is used, both
  // of what is read and of what is written, whose rows often share the few places of a cache.
  constexpr std::int64_t kSide = 16;
  std::array<float, kSide * kSide> square;
  for (std::int64_t left = 0; left < columns; left += kSide)
    for (std::int64_t first = 0; first < rows; first += kSide) {
      const std::int64_t high = std::min(rows - first, kSide),
                         wide = std::min(columns - left, kSide);
      for (std::int64_t k = 0; k < wide; ++k)
        for (std::int64_t i = 0; i < high; ++i)
          std::memcpy(&square[static_cast<std::size_t>(i * kSide + k)], at(first + i, left + k),
                      sizeof(float));
      for (std::int64_t i = 0; i < high; ++i)
        std::copy_n(&square[static_cast<std::size_t>(i * kSide)], wide,
                    weights + (first + i) * columns + left);
    }
}

void WeightReader::compute_row(std::int64_t row, std::int64_t column, std::int64_t columns,
                               float* weights) {
  const base::DType stored = matrix_.stored_dtype();
  const std::int64_t width = base::bit_width(stored) / 8;
  values_.resize(static_cast<std::size_t>(columns));
  for (std::int64_t k = 0; k < columns; ++k)
    values_[static_cast<std::size_t>(k)] =
        onnx::load_real(stored, matrix_.data + (row * down_ + (column + k) * across_) * width);
  onnx::compute(matrix_, row * matrix_.dims[1] + column, values_);
  for (std::int64_t k = 0; k < columns; ++k)
    weights[k] = static_cast<float>(values_[static_cast<std::size_t>(k)]);
}

}  // namespace sardonyx::precision
