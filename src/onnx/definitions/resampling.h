// Interpolation decomposed: the definition of Resize, and what Resize cannot express.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "onnx/emit/emit.h"

namespace sardonyx::onnx {

// One spatial axis that gets another size: by steps of 1 / factor through the input where a factor
// is given, else of the ratio of the sizes.
struct ResampledAxis {
  std::int64_t axis;
  Expr from, to;
  std::optional<double> factor;
  // The step is the ratio of the sizes, whatever the factor says, where the axis comes out up to so
  // many times as long: kFloor and kLinear only.
  std::int64_t whole = 0;
};

enum class Neighbors : std::uint8_t { kFloor, kNearest, kLinear, kCubic };

// Reads the neighbors of each place of the result, axis after axis.
Value resampled(Emit& onnx, Value x, const std::vector<ResampledAxis>& axes, Neighbors neighbors,
                bool align_corners);

// The same along one axis as a matrix [to, from].
Value neighbor_matrix(Emit& onnx, const ResampledAxis& axis, Neighbors neighbors,
                      bool align_corners, DType dtype);

// An antialiasing filter: its reach at scale 1 and its weight at a distance.
struct Filter {
  double support;
  std::function<Value(Emit&, Value)> weight;
};
Filter linear_filter();
Filter cubic_filter();
Filter lanczos_filter();

// The weighted means under the filter, widened where the image shrinks, along the last two axes.
Value filtered(Emit& onnx, Value x, const std::vector<ResampledAxis>& axes, const Filter& filter,
               bool align_corners);

}  // namespace sardonyx::onnx
