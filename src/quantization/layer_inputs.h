// Samples of what the products of a model take: rows of their inputs, and patches of convolutions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "quantization/placement.h"

namespace sardonyx::quantization {

class LayerInputs {
 public:
  explicit LayerInputs(const Layer& layer);

  // Of any number of tensors, so many rows are kept at most, spread over all of them: fewer where
  // they are long, but no fewer than the last of these.
  static constexpr std::size_t kMaxRows = 4096, kMaxElements = std::size_t{1} << 22, kMinRows = 512;

  // Takes `count` places of a tensor, spread over it and not the same of each one. None where the
  // operator's attributes are of a kind that nobody samples.
  void add(std::span<const float> elements, std::span<const std::int64_t> dims, std::size_t count);

  std::size_t rows() const { return columns_ == 0 ? 0 : rows_.size() / columns_; }
  std::size_t columns() const { return columns_; }
  std::span<const float> row(std::size_t i) const { return {&rows_[i * columns_], columns_}; }

 private:
  std::size_t place(std::size_t part, std::size_t parts, std::size_t places);
  // How many of `count` places of the next tensor are taken, after rows were thinned out.
  std::size_t places_of_next(std::size_t count);
  // Keeps one of two rows, and takes half as many places from now on.
  void thin_out();
  void add_patch(std::span<const float> elements, std::span<const std::int64_t> dims,
                 std::int64_t place, std::span<const std::int64_t> results);

  bool is_sampled_ = true;
  bool is_convolution_;
  std::vector<std::int64_t> kernel_, strides_, dilations_, pads_;
  std::size_t columns_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t tensors_ = 0;
  std::size_t step_ = 1;  // one of so many places is taken
  std::vector<float> rows_;
};

}  // namespace sardonyx::quantization
