// Matrices of a stack whose rows are put into another order as they are written: those of the
// second half between those of the first one.
#pragma once

#include <memory>
#include <optional>

#include "onnx/graph/recipe.h"
#include "onnx/graph/tensor.h"

namespace sardonyx::onnx {

class Interleaved : public Derivation {
 public:
  void put(std::size_t part, const Tensor& source, const Sink& sink) const override;
  std::unique_ptr<Pieces> pieces(std::size_t part, const Tensor& source) const override;
};

// Rows 0, m, 1, m + 1, … of each matrix [2 m, …] of a stack [n, 2 m, …] of elements of a byte or
// more; nothing for other tensors, and where there is no data yet.
std::optional<Tensor> interleaved(const Tensor& stack);

}  // namespace sardonyx::onnx
