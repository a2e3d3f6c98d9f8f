#include "onnx/graph/count_nodes.h"

namespace sardonyx::onnx {

std::int64_t count_nodes(const Graph& graph) {
  std::int64_t count = 0;
  for (const Node* node = graph.first; node != nullptr; node = node->next) {
    ++count;
    for (const Graph* body : bodies(node)) count += count_nodes(*body);
  }
  return count;
}

}  // namespace sardonyx::onnx
