// Pieces of a matrix of weights as float32, whatever its strides and type, and whatever a recipe
// makes of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "onnx/graph/pieces.h"
#include "onnx/graph/tensor.h"

namespace sardonyx::precision {

// Whether the elements of a stack of matrices are cast at most, interleaved or not.
bool is_readable_stack(const onnx::Tensor& stack);

class WeightReader {
 public:
  // `matrix` has two dims, or is a readable stack of matrices, whose rows count on. It is borrowed,
  // and has data.
  explicit WeightReader(const onnx::Tensor& matrix);
  ~WeightReader();
  WeightReader(const WeightReader&) = delete;
  WeightReader& operator=(const WeightReader&) = delete;

  // Rows [row, row + rows) of columns [column, column + columns), row by row. Pages of mapped files
  // are let go of now and then.
  void read(std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns,
            std::span<float> weights);

 private:
  // A part of a joined matrix, and where it begins.
  struct Part {
    std::unique_ptr<WeightReader> reader;
    std::int64_t row, column, rows, columns;
  };
  void add_matrices();
  void read_part(const Part& part, std::int64_t row, std::int64_t rows, std::int64_t column,
                 std::int64_t columns, std::span<float> weights);
  void read_parts(std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns,
                  std::span<float> weights);

  const onnx::Tensor& matrix_;
  std::vector<onnx::Tensor> matrices_;  // of a stack
  bool is_interleaved_ = false;         // rows of the stack's matrices are
  std::vector<Part> parts_;
  std::vector<float> half_;
  std::optional<onnx::MatrixReader> reader_;  // where there are no parts
  std::int64_t resident_ = 0;                 // bytes that were read since pages were let go of
};

}  // namespace sardonyx::precision
