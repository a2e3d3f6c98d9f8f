// What a histogram needs of the elements of a tensor: their range, and the bin of each.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

namespace sardonyx::kernels {

struct Extremes {
  // Of finite elements.
  float low = std::numeric_limits<float>::infinity();
  float high = -std::numeric_limits<float>::infinity();
  std::uint64_t finite = 0, zeros = 0;  // how many there are
};

// The same on every processor.
Extremes extremes(std::span<const float> elements);

// Bins are [i * 2^exponent, (i + 1) * 2^exponent).
struct Binning {
  int exponent = 0;  // from -149 to 127
  std::int32_t first = 0;
};

// For each element the number of its bin less that of the first one; `not_finite` for NaN and
// infinities. Numbers of bins are at most 2^25. The same on every processor.
void bins_of(std::span<const float> elements, const Binning& binning, std::int32_t not_finite,
             std::span<std::int32_t> bins);

}  // namespace sardonyx::kernels
