// Reading images and volumes at computed places.
#pragma once

#include <vector>

#include "onnx/emit/emit.h"

namespace sardonyx::onnx {

// An image [N, C, sizes...] laid out so that one Gather reads all channels of a place.
struct Lattice {
  Value rows;   // [N * places, C]
  Shape sizes;  // of the spatial axes
};

Lattice lattice_of(Emit& onnx, Value image);

// What an interpolation reads along one axis: `at` holds whole numbers in the floating type,
// `weight` their shares; both [places..., taps]. What lies outside of the axis counts as zero.
struct Taps {
  Value at, weight;
};

// The two neighbors of each coordinate [places...].
Taps linear_taps(Emit& onnx, Value coordinate);

// The weighted sum over the taps of all axes: [places..., C]. `image` (int64, broadcasting against
// the places) is the image of the batch to read.
Value interpolated(Emit& onnx, const Lattice& lattice, Value image, std::vector<Taps> taps);

}  // namespace sardonyx::onnx
