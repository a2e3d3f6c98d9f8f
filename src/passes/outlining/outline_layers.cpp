#include "passes/outlining/outline_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "passes/outlining/isomorphic_parts.h"
#include "passes/outlining/outline_modules.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Origin;

// Functions of fewer nodes hide more than they tell.
constexpr std::size_t kMin = 4;
constexpr const char* kClass = "sardonyx.layers.Layer";

void put_in_order(const std::vector<Node*>& order) {
  for (std::size_t i = order.size(); i-- > 1;)
    if (order[i - 1]->next != order[i]) onnx::move_before(order[i], order[i - 1]);
}

}  // namespace

std::int64_t outline_layers(onnx::Model& model) {
  const std::vector<AlikeParts> groups = find_alike_parts(model.graph, kMin);
  put_in_order(order_by_parts(model.graph, groups));
  // Each part becomes what modules are to their outlining: nodes that say the same call of them.
  std::unordered_map<Node*, const Origin*> origins;
  for (Node* node = model.graph->first; node != nullptr; node = node->next) {
    origins.emplace(node, node->origin);
    node->origin = nullptr;
  }
  std::int64_t calls = 0;
  for (const AlikeParts& group : groups)
    for (const Part& part : group.members) {
      const std::string path = fmt::format("layer_{}", calls++);
      Origin origin;
      origin.scopes = {"", path};
      origin.classes = {"", kClass};
      const Origin* const shared = model.add_origin(std::move(origin));
      for (Node* node : part) node->origin = shared;
    }
  outline_modules(model, [](std::string_view type) { return type == kClass; });
  for (const auto& [node, origin] : origins) node->origin = origin;
  for (Node* node = model.graph->first; node != nullptr; node = node->next)
    if (!origins.contains(node)) node->origin = nullptr;
  return calls;
}

}  // namespace sardonyx::passes
