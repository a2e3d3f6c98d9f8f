// How large a graph is.
#pragma once

#include <cstdint>

#include "onnx/graph/ir.h"

namespace sardonyx::onnx {

// Nodes of the graph and of all bodies in it.
std::int64_t count_nodes(const Graph& graph);

}  // namespace sardonyx::onnx
