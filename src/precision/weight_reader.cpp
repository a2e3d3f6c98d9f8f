#include "precision/weight_reader.h"

#include <algorithm>

#include "base/mapped_file.h"
#include "onnx/graph/interleaved.h"
#include "onnx/graph/joined.h"
#include "onnx/graph/recipe.h"

namespace sardonyx::precision {
namespace {

// Letting go of pages costs a run over all of the tensor's.
constexpr std::int64_t kResidentBytes = std::int64_t{32} << 20;

}  // namespace

WeightReader::WeightReader(const onnx::Tensor& matrix) : matrix_(matrix) {
  if (matrix.dims.size() == 3) {
    add_matrices();
    return;
  }
  const onnx::Joined* joined = onnx::joined_of(matrix);
  if (joined == nullptr) {
    reader_.emplace(matrix);
    return;
  }
  std::int64_t row = 0, column = 0;
  for (const onnx::Tensor& part : joined->parts()) {
    parts_.push_back(
        {std::make_unique<WeightReader>(part), row, column, part.dims[0], part.dims[1]});
    (joined->axis() == 0 ? row : column) += part.dims[joined->axis()];
  }
}

bool is_readable_stack(const onnx::Tensor& stack) {
  const onnx::Derived* step = onnx::derivation_of(stack);
  if (step == nullptr) return onnx::is_cast_alone(stack);
  return dynamic_cast<const onnx::Interleaved*>(step->how.get()) != nullptr &&
         onnx::is_cast_alone(*stack.recipe->source);
}

void WeightReader::add_matrices() {
  is_interleaved_ = onnx::derivation_of(matrix_) != nullptr;
  const onnx::Tensor& stack = is_interleaved_ ? *matrix_.recipe->source : matrix_;
  const std::int64_t count = stack.dims[0], rows = stack.dims[1], columns = stack.dims[2];
  matrices_.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    matrices_.push_back(onnx::part_of_stack(stack, i));
    parts_.push_back(
        {std::make_unique<WeightReader>(matrices_.back()), i * rows, 0, rows, columns});
  }
}

WeightReader::~WeightReader() {
  if (parts_.empty()) onnx::release_elements(matrix_);
}

void WeightReader::read(std::int64_t row, std::int64_t rows, std::int64_t column,
                        std::int64_t columns, std::span<float> weights) {
  if (!parts_.empty()) return read_parts(row, rows, column, columns, weights);
  reader_->read(row, rows, column, columns, base::DType::kFloat32,
                reinterpret_cast<std::byte*>(weights.data()), columns);
  resident_ += rows * columns * base::bit_width(matrix_.stored_dtype()) / 8;
  if (resident_ < kResidentBytes) return;
  base::release_pages(onnx::extent(matrix_));
  resident_ = 0;
}

// Of interleaved rows, those with an even number are in the first half of the part.
void WeightReader::read_part(const Part& part, std::int64_t row, std::int64_t rows,
                             std::int64_t column, std::int64_t columns, std::span<float> weights) {
  if (!is_interleaved_) return part.reader->read(row, rows, column, columns, weights);
  for (const std::int64_t parity : {0, 1}) {
    const std::int64_t first = row + (row + parity) % 2, count = (row + rows - first + 1) / 2;
    if (count <= 0) continue;
    half_.resize(static_cast<std::size_t>(count * columns));
    part.reader->read(first / 2 + parity * (part.rows / 2), count, column, columns, half_);
    for (std::int64_t i = 0; i < count; ++i)
      std::copy_n(half_.data() + i * columns, columns,
                  weights.data() + (first - row + 2 * i) * columns);
  }
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
    read_part(part, top - part.row, high, left - part.column, wide, piece);
    for (std::int64_t i = 0; i < high; ++i)
      std::copy_n(piece.data() + i * wide, wide,
                  weights.data() + (top - row + i) * columns + left - column);
  }
}

}  // namespace sardonyx::precision
