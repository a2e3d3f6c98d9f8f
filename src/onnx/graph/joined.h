// Weights one after the other, or side by side, in one: put together as they are written.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "onnx/graph/recipe.h"
#include "onnx/graph/tensor.h"

namespace sardonyx::onnx {

class Joined : public Derivation {
 public:
  // The parts stay borrowed.
  Joined(std::vector<Tensor> parts, std::size_t axis) : parts_(std::move(parts)), axis_(axis) {}

  const std::vector<Tensor>& parts() const { return parts_; }
  std::size_t axis() const { return axis_; }

  // Some rows at a time; `part` and `source` say nothing that the parts do not.
  void put(std::size_t part, const Tensor& source, const Sink& sink) const override;
  std::unique_ptr<Pieces> pieces(std::size_t part, const Tensor& source) const override;
  std::optional<Tensor> permuted(std::span<const std::int64_t> axes) const override;
  std::optional<Tensor> cast_with_offset(base::DType dtype, std::int64_t by) const override;

 private:
  std::vector<Tensor> parts_;
  std::size_t axis_;
};

// Vectors or matrices of one type that differ in the axis alone, joined there; nothing where some
// have no data yet, or elements of less than a byte.
std::optional<Tensor> joined(std::vector<Tensor> parts, std::size_t axis);

// What the tensor is joined of; null where it is not.
const Joined* joined_of(const Tensor& tensor);

}  // namespace sardonyx::onnx
