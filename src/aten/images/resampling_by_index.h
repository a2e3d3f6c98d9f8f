// Interpolation spelled out, for what ONNX's Resize does not place as PyTorch does: scale factors
// that float32 does not hold, and filters that Resize has not.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "aten/call.h"

namespace sardonyx::aten {

// One spatial axis that gets another size. PyTorch steps through the input by 1 / factor where a
// factor was given, else by the ratio of the sizes.
struct ResampledAxis {
  std::int64_t axis;
  Expr from, to;
  std::optional<double> factor;
  // PyTorch's nearest neighbours of images repeat the elements of an axis that comes out as long,
  // or twice as long, whatever the factor says.
  bool repeats = false;
};

enum class Neighbours : std::uint8_t { kFloor, kNearest, kLinear, kCubic };

// Reads the neighbours of each place of the result, axis after axis.
Value resampled(Emit& onnx, Value x, const std::vector<ResampledAxis>& axes, Neighbours neighbours,
                bool align_corners);

// The same along one axis as a matrix [to, from].
Value neighbour_matrix(Emit& onnx, const ResampledAxis& axis, Neighbours neighbours,
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

}  // namespace sardonyx::aten
