// Identical layers of a graph as one model-local function.
#pragma once

#include <cstdint>

#include "onnx/graph/ir.h"

namespace sardonyx::passes {

// Before: t = LayerNormalization(x, w0, b0); y = Add(x, MatMul(t, v0)); u = LayerNormalization(y,
//         w1, b1); z = Add(y, MatMul(u, v1))
// After:  y = Layer(x, w0, b0, v0); z = Layer(y, w1, b1, v1), a function of three nodes
//
// Parts of the main graph that are alike are found by growing them side by side from nodes that are
// alike, until they differ or meet; what saves most nodes is taken first. Nodes are put in another
// order for that, each still behind those that it reads. Weights are inputs of the functions, which
// are of the domain "sardonyx.layers" and called Layer, Layer.1 and so on; constants of a few bytes
// are inside. Runtimes put such functions back in place as they load a model.
//
// How many calls there are then. Throws SX1802 below opset 15, which brought model-local functions.
std::int64_t outline_layers(onnx::Model& model);

}  // namespace sardonyx::passes
