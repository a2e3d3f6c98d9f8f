// The elements of a weight, channel by channel.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "onnx/graph/tensor.h"

namespace sardonyx::quantization {

// The elements of a tensor of floating-point numbers, in row-major order.
std::vector<float> floats_of(const onnx::Tensor& tensor);

// A weight is [outer, channels, inner]; here the elements of each channel follow one another.
struct WeightLayout {
  std::size_t outer = 1, channels, inner = 1;

  WeightLayout(const std::vector<std::int64_t>& dims, std::int64_t axis)
      : channels(static_cast<std::size_t>(dims[static_cast<std::size_t>(axis)])) {
    for (std::size_t i = 0; i < dims.size(); ++i) {
      if (static_cast<std::int64_t>(i) < axis) outer *= static_cast<std::size_t>(dims[i]);
      if (static_cast<std::int64_t>(i) > axis) inner *= static_cast<std::size_t>(dims[i]);
    }
  }
  std::size_t row() const { return outer * inner; }

  template <typename T>
  std::vector<T> by_channel(std::vector<T> elements) const {
    if (outer == 1) return elements;
    std::vector<T> result(elements.size());
    for (std::size_t o = 0; o < outer; ++o)
      for (std::size_t c = 0; c < channels; ++c)
        std::copy_n(&elements[(o * channels + c) * inner], inner, &result[c * row() + o * inner]);
    return result;
  }
  template <typename T>
  std::vector<T> as_it_was(std::vector<T> elements) const {
    if (outer == 1) return elements;
    std::vector<T> result(elements.size());
    for (std::size_t o = 0; o < outer; ++o)
      for (std::size_t c = 0; c < channels; ++c)
        std::copy_n(&elements[c * row() + o * inner], inner, &result[(o * channels + c) * inner]);
    return result;
  }
};

}  // namespace sardonyx::quantization
