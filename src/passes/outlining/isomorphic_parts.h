// Parts of a graph that are alike: the same operators, wired alike, on other values.
#pragma once

#include <vector>

#include "onnx/graph/ir.h"

namespace sardonyx::passes {

// Members have their nodes in the same places: part[i] does in one what part[i] does in another.
using Part = std::vector<onnx::Node*>;
struct AlikeParts {
  std::vector<Part> members;  // two at least, of `fewest` nodes at least
};

// No node is of two parts, and all parts of all groups could be run each as a whole: no value
// leaves one and comes back into it. Those that save most nodes come first.
std::vector<AlikeParts> find_alike_parts(const onnx::Graph* graph, std::size_t fewest);

// An order of the graph's nodes in which those of each part stand together, and each behind those
// that it reads; empty where there is none.
std::vector<onnx::Node*> order_by_parts(const onnx::Graph* graph,
                                        const std::vector<AlikeParts>& groups);

}  // namespace sardonyx::passes
