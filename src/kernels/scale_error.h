// What rounding weights to integers with one scale would do to them.
#pragma once

#include <span>

namespace sardonyx::kernels {

// The sum of the squares of the differences, where codes are from -highest to highest. The same on
// every processor.
double scale_error(std::span<const float> weights, float scale, float highest);

}  // namespace sardonyx::kernels
