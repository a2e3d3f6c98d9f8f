// A matrix of weights, or a stack of them, that is held as codes in blocks, computed as it is
// written.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "kernels/block_quantizer.h"
#include "onnx/graph/recipe.h"

namespace sardonyx::precision {

// The matrix as rows of weights that share scales along the row. How its parts lie:
enum class Layout : std::uint8_t {
  // MatMulNBits: codes as bytes [rows, blocks, bytes of a block], what is missing of the last
  // block filled up; scales [rows, blocks]; zero points, packed by rows, [rows, bytes].
  kPaddedBlocks,
  // GatherBlockQuantized and QMoE: as above, codes [rows, bytes of a row] without filling.
  kPackedRows,
  // DequantizeLinear with blocks along the last axis: codes [rows, columns], scales and zero points
  // [rows, blocks].
  kRows,
  // The same along the first axis, the matrix transposed: codes [columns, rows], scales and zero
  // points
  // [blocks, rows].
  kTransposed,
};

class QuantizedWeight : public onnx::Derivation,
                        public std::enable_shared_from_this<QuantizedWeight> {
 public:
  enum Part : std::size_t { kCodes, kScales, kZeroPoints };

  // `source` is [rows, columns], or a stack [matrices, rows, columns] whose rows count on, in any
  // layout but kTransposed; it stays borrowed.
  QuantizedWeight(const onnx::Tensor& source, Layout layout, kernels::BlockForm form);

  const kernels::BlockForm& form() const { return form_; }
  Layout layout() const { return layout_; }
  std::int64_t blocks() const { return (columns_ + form_.size - 1) / form_.size; }  // of a row
  std::int64_t bytes() const;                                                       // of all parts
  bool has_zero_points() const { return !form_.symmetric; }
  onnx::Tensor part(Part part) const;

  // Computes what nobody has written yet. NaN where the weight has no data.
  kernels::CodingError error() const;

  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  // What the codes stand for, row by row, computed anew. Empty where the weight has no data.
  std::vector<float> restored() const;

  void put(std::size_t part, const onnx::Tensor& source, const Sink& sink) const override;
  std::unique_ptr<onnx::Pieces> pieces(std::size_t part, const onnx::Tensor& source) const override;

 private:
  class CodePieces;

  struct Made {
    const std::byte* from = nullptr;  // the data of the source that it was made of
    // In the order in which they are written.
    std::vector<std::byte> scales;
    std::vector<std::uint8_t> zero_points;  // where there are any
    kernels::CodingError error;
    bool measured = false;
  };

  std::vector<std::int64_t> dims(Part part) const;
  base::DType dtype(Part part) const;
  void let_go() const;
  void begin(const onnx::Tensor& source) const;
  void make(const onnx::Tensor& source) const;
  void put_zero_points(const Sink& sink) const;

  onnx::Tensor source_;
  Layout layout_;
  kernels::BlockForm form_;
  std::int64_t rows_, columns_;
  mutable std::mutex mutex_;
  mutable Made made_;
};

}  // namespace sardonyx::precision
