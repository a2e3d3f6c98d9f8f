// Matrices that lie on one another in one weight, as those of experts do.
#pragma once

#include <cstdint>

#include "onnx/graph/ir.h"

namespace sardonyx::precision {

// Before: y = MatMul(x, Gather(w, 3))    w is [experts, rows, columns]
// After:  y = MatMul(x, w.3)
// Each becomes a weight of its own over the same bytes, which can be coded: those with as many rows
// as a block has, of weights that are read by such products alone.
void part_stacked_weights(onnx::Model& model, std::int64_t block_size);

}  // namespace sardonyx::precision
