// Scatters that combine elements, in terms of those that write them.
#pragma once

#include <optional>

#include "onnx/definitions/definitions.h"

namespace sardonyx::onnx {

// ScatterElements with a reduction. A slice of the indices across the axis names no element twice:
// the slices are combined one after the other.
std::optional<Values> scatter_elements_by_slices(const Composite& call);

// ScatterND with a reduction, one index after the other.
std::optional<Values> scatter_nd_by_indices(const Composite& call);

// Opset 24. TensorScatter, which writes slices side by side into each entry of a batch.
std::optional<Values> tensor_scatter_by_elements(const Composite& call);

}  // namespace sardonyx::onnx
