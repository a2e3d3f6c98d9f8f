#include "onnx/graph/shared_memory.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "onnx/operators/traits.h"

namespace sardonyx::onnx {
namespace {

// Operators that runtimes do not compute: their results are the same memory.
bool is_view(const Node& node) {
  static constexpr std::string_view kViews[] = {"Reshape", "Squeeze", "Unsqueeze", "Flatten",
                                                "Identity"};
  return std::ranges::any_of(kViews, [&node](std::string_view each) { return node.is(each); });
}

// Their kernels update a state in place.
bool updates_in_place(const Node& node) {
  return node.domain == "com.microsoft" &&
         (node.op_type == "LinearAttention" || node.op_type == "CausalConvWithState");
}

// The nodes of the graph that read the value's memory.
void add_readers(const ValueInfo& value, const Graph* graph, std::vector<const Node*>& readers) {
  for (const Use& use : value.uses) {
    const Node* reader = ancestor_in(graph, use.node);
    const bool passes_on = reader == use.node && use.index == 0 && is_view(*reader);
    if (passes_on && reader->output() != nullptr && reader->output()->returns.empty())
      add_readers(*reader->output(), graph, readers);
    else if (reader != nullptr)
      readers.push_back(reader);
  }
}

void add_read_values(const Node& node, std::vector<const ValueInfo*>& values);

void add_values_of_body(const Graph* body, std::vector<const ValueInfo*>& values) {
  for (const Node* node = body->first; node != nullptr; node = node->next)
    add_read_values(*node, values);
  values.insert(values.end(), body->outputs.begin(), body->outputs.end());
}

void add_read_values(const Node& node, std::vector<const ValueInfo*>& values) {
  for (const ValueInfo* input : node.inputs)
    if (input != nullptr) values.push_back(input);
  for (const Attribute& attribute : node.attributes) {
    if (const auto* body = std::get_if<Graph*>(&attribute.data)) add_values_of_body(*body, values);
    if (const auto* bodies = std::get_if<std::vector<Graph*>>(&attribute.data))
      for (const Graph* body : *bodies) add_values_of_body(body, values);
  }
}

// The nodes of the graph whose results `last` needs.
std::unordered_set<const Node*> ancestors(const Node* last, const Graph* graph) {
  std::unordered_set<const Node*> found;
  std::vector<const Node*> open = {last};
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    std::vector<const ValueInfo*> values;
    add_read_values(*node, values);
    for (const ValueInfo* value : values)
      if (value->producer != nullptr && value->producer->graph == graph &&
          found.insert(value->producer).second)
        open.push_back(value->producer);
  }
  return found;
}

}  // namespace

bool may_share_memory(const ValueInfo& input, const ValueInfo& output) {
  const Graph* graph = input.graph;
  std::vector<const Node*> readers;
  add_readers(input, graph, readers);
  const Node* last = output.producer;
  while (last != nullptr && is_view(*last) && last->input(0) != &input) {
    if (last->input(0) == nullptr || last->input(0)->producer == nullptr) break;
    last = last->input(0)->producer;
  }
  if (last == nullptr) return &input == &output || readers.empty();
  const std::unordered_set<const Node*> earlier = ancestors(last, graph);
  return std::ranges::all_of(readers, [&](const Node* reader) {
    if (reader != last) return earlier.contains(reader);
    return is_view(*reader) || updates_in_place(*reader) ||
           has_trait(reader->op, Trait::kBroadcasts) || has_trait(reader->op, Trait::kPointwise);
  });
}

}  // namespace sardonyx::onnx
