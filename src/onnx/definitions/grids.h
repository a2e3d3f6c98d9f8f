// Grids of points on images.
#pragma once

#include "onnx/emit/emit.h"

namespace sardonyx::onnx {

// The centers of `count` (int64, 0-d) elements in [-1, 1]; with align_corners the first and last
// ones are at its ends, and a single one is in the middle.
Value element_centers(Emit& onnx, Value count, bool align_corners, DType dtype);

}  // namespace sardonyx::onnx
