#include "viewer/measured_nodes.h"

#include <cctype>
#include <string_view>

namespace sardonyx::viewer {
namespace {

using onnx::Node;
using Names = std::unordered_map<std::string_view, const Node*>;

// The node with the longest name before a "_" or "/" of this one.
const Node* longest(const Names& names, std::string_view name) {
  for (std::size_t i = name.size(); i-- > 1;) {
    if (name[i] != '_' && name[i] != '/') continue;
    const auto found = names.find(name.substr(0, i));
    if (found != names.end()) return found->second;
  }
  return nullptr;
}

}  // namespace

bool is_time(const std::string& unit) {
  return unit == "ms" || unit == "s" || unit == "us" || unit == "ns";
}

NodeNumbers numbers_of_nodes(const std::map<std::string, double>& numbers,
                             std::span<const Node* const> nodes, bool of_parts, double* rest) {
  // Names of nodes before those of values.
  Names names;
  for (const Node* node : nodes)
    if (!node->name.empty()) names.emplace(node->name, node);
  for (const Node* node : nodes)
    for (const onnx::ValueInfo* output : node->outputs)
      if (output != nullptr) names.emplace(output->name, node);
  NodeNumbers found;
  for (const auto& [name, number] : numbers) {
    const auto exact = names.find(name);
    const Node* node = exact != names.end() ? exact->second : nullptr;
    if (node == nullptr && of_parts) node = longest(names, name);
    if (node == nullptr) {
      if (rest != nullptr) *rest += number;
      continue;
    }
    const auto [place, is_first] = found.emplace(node, number);
    if (!is_first && of_parts) place->second += number;
    // The node's own name counts before those of its values.
    if (!is_first && !of_parts && name == node->name) place->second = number;
  }
  return found;
}

}  // namespace sardonyx::viewer
