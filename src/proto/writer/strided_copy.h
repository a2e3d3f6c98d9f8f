// A tensor's elements in row-major order, whatever its strides, through a buffer of fixed size.
#pragma once

#include "onnx/graph/tensor.h"
#include "proto/wire/stream.h"

namespace sardonyx::proto {

// Writes byte_count() bytes: contiguous data as it lies, strided data gathered, what a
// recipe computes computed. Elements under eight bits are packed, the first in the lowest
// bits; their strides count elements, not bytes. The tensor has data and is no string tensor.
void put_data(const onnx::Tensor& tensor, Stream& stream);

}  // namespace sardonyx::proto
