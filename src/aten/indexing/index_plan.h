// What PyTorch's advanced indexing x[i, :, j] means in ONNX's terms: one tensor of coordinates.
#pragma once

#include <cstdint>
#include <vector>

#include "aten/call.h"

namespace sardonyx::aten {

struct IndexPlan {
  std::vector<std::int64_t> axes;  // the axes of self that are indexed, ascending
  Value coordinates;               // int64 [broadcast shape..., axes.size()]
  Shape index_shape;               // the shape that the indices broadcast to
  // Where the index's axes stand in the result: at the first indexed axis where all are adjacent,
  // else in front.
  std::int64_t position = 0;
  // The permutation of self that brings the indexed axes to the front.
  std::vector<std::int64_t> to_front;
};

// One index tensor for one axis.
struct AxisIndex {
  std::int64_t axis;
  Value index;  // int64
  Shape shape;
};

// The argument `indices` (Tensor?[]) by axis: masks become the coordinates of their true elements.
// `result_shape` is self[indices]'s, from which sizes that depend on the data are known; may be
// empty.
std::vector<AxisIndex> axis_indices(const Call& call, Emit& onnx, const Shape& result_shape);

// Where several indices of dynamic sizes broadcast, those of the result are taken from
// `result_shape`, which may be empty.
IndexPlan plan_index(Emit& onnx, const std::vector<AxisIndex>& indices, std::int64_t self_rank,
                     const Shape& result_shape = {});

// The shape that two shapes broadcast to, dim by dim.
Shape broadcast_shapes(const Shape& a, const Shape& b);

}  // namespace sardonyx::aten
