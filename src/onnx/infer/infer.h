// Type and shape inference of one node.
#pragma once

#include <cstdint>

#include "onnx/graph/ir.h"

namespace sardonyx::onnx {

// Infers from the node's inputs and attributes; sets the outputs' dtype, rank and shape as far as
// they can be known. Throws SX1503 for what the operator does not accept.
void infer(Node* node, symbolic::Pool& pool, std::int64_t opset);

}  // namespace sardonyx::onnx
