// Which nodes of a model numbers by name are of.
#pragma once

#include <map>
#include <span>
#include <string>
#include <unordered_map>

#include "onnx/graph/ir.h"

namespace sardonyx::viewer {

using NodeNumbers = std::unordered_map<const onnx::Node*, double>;

// Numbers are by the node's name, or that of a value that it gives. Runtimes name what they make of
// nodes after one of these ("relu_nchwc", "conv_token_3"): where `of_parts`, what is left over is
// of the node with the longest name that it begins with, and several add up. What no node has is
// added to `rest`, if it is given.
NodeNumbers numbers_of_nodes(const std::map<std::string, double>& numbers,
                             std::span<const onnx::Node* const> nodes, bool of_parts,
                             double* rest = nullptr);

// Whether numbers of this unit are times, which add up.
bool is_time(const std::string& unit);

}  // namespace sardonyx::viewer
