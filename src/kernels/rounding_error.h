// What rounding numbers to half precision would do to them.
#pragma once

#include <limits>
#include <span>

#include "base/dtype.h"

namespace sardonyx::kernels {

// Of finite numbers; differences and squares are those of the numbers that half precision reaches.
struct RoundingError {
  double squares = 0;  // of the differences
  double weights = 0;  // of the numbers themselves
  double largest_difference = 0;
  double least_beyond = std::numeric_limits<double>::infinity();  // of those out of reach

  void add(const RoundingError& other);
};

// The largest finite number of float16 or bfloat16.
double largest_of(base::DType half);

// The same on every processor, to the last bit of its sums.
RoundingError rounding_error(std::span<const float> values, base::DType half);

}  // namespace sardonyx::kernels
