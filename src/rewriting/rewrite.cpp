#include "rewriting/rewrite.h"

#include <algorithm>
#include <string>
#include <vector>

namespace sardonyx::rewriting {

using onnx::Node;
using onnx::ValueInfo;

void erase_unused(Node* node, const std::function<void(const ValueInfo*)>& let_go) {
  std::vector<Node*> waiting{node};
  while (!waiting.empty()) {
    Node* const last = waiting.back();
    waiting.pop_back();
    if (last == nullptr || last->graph == nullptr) continue;
    const bool needed = std::ranges::any_of(last->outputs, [](const ValueInfo* output) {
      return output != nullptr && onnx::has_uses(output);
    });
    if (needed) continue;
    const std::vector<ValueInfo*> inputs = last->inputs;
    onnx::erase(last);
    for (const ValueInfo* input : inputs) {
      if (input == nullptr) continue;
      waiting.push_back(input->producer);
      if (let_go) let_go(input);
    }
  }
}

bool can_replace(const ValueInfo* from, const ValueInfo* to) {
  if (from == to) return false;
  if (from->returns.empty()) return true;
  return from->returns.size() == 1 && to->returns.empty() && to->producer != nullptr &&
         to->graph == from->graph;
}

void take_over(ValueInfo* from, ValueInfo* to, bool with_name) {
  if (with_name || !from->returns.empty()) {
    onnx::Model& model = *from->graph->model;
    const std::string name = from->name;
    model.rename(from, name + "_replaced");
    model.rename(to, name);
  }
  if (to->constant != nullptr) return;
  if (to->dtype == onnx::DType::kUndefined) to->dtype = from->dtype;
  if (to->contents.empty()) to->contents = from->contents;
  if (!from->has_rank) return;
  // What stands behind was typed with these sizes, and the interface says them.
  if (!to->has_rank || to->shape.size() != from->shape.size()) {
    to->has_rank = true;
    to->shape = from->shape;
  }
  for (std::size_t i = 0; i < from->shape.size(); ++i)
    if (from->shape[i].known() || !from->returns.empty()) to->shape[i] = from->shape[i];
}

bool used_once(const ValueInfo* value) {
  return value->uses.size() == 1 && value->returns.empty() && !value->is_pinned;
}

Node* made_by(const ValueInfo* value, std::string_view op_type) {
  Node* const producer = value == nullptr ? nullptr : value->producer;
  return producer != nullptr && producer->is(op_type) ? producer : nullptr;
}

Node* made_by(const ValueInfo* value, onnx::Op op) {
  Node* const producer = value == nullptr ? nullptr : value->producer;
  return producer != nullptr && producer->is(op) ? producer : nullptr;
}

}  // namespace sardonyx::rewriting
