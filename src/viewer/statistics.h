// What the elements of a weight are like.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "onnx/graph/tensor.h"

namespace sardonyx::viewer {

struct Statistics {
  static constexpr std::size_t kBins = 32;
  std::int64_t elements = 0;
  std::int64_t looked_at = 0;  // fewer than `elements` for a large tensor: pieces from all over it
  double min = 0, max = 0, mean = 0, deviation = 0;  // of the finite elements
  std::int64_t zeros = 0, nans = 0, infinities = 0;
  std::array<std::int64_t, kBins> histogram{};  // from min to max
  // All elements, as text, where there are few.
  std::vector<std::string> values;
};

// Nothing for strings, data that is missing, and what would take long to compute: quantized or
// rewritten weights of more than a few MB.
std::optional<Statistics> statistics_of(const onnx::Tensor& tensor);

}  // namespace sardonyx::viewer
