#include "passes/rewrite.h"

#include <algorithm>
#include <utility>

#include "onnx/emit/emit.h"
#include "onnx/infer/infer.h"

namespace sardonyx::passes {

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

std::int64_t opset_of(const onnx::Model& model) {
  const auto found = model.opsets.find("");
  return found == model.opsets.end() ? 0 : found->second;
}

Node* insert_node(Node* position, std::string op_type, std::vector<ValueInfo*> inputs,
                  std::vector<onnx::Attribute> attributes, std::string_view name,
                  std::size_t outputs) {
  onnx::Model& model = *position->graph->model;
  Node* node = model.add_node(std::move(op_type), "");
  for (ValueInfo* input : inputs) onnx::add_input(node, input);
  node->attributes = std::move(attributes);
  node->origin = position->origin;
  node->metadata = position->metadata;
  for (std::size_t i = 0; i < outputs; ++i)
    onnx::add_output(node, model.add_value(name, position->graph));
  onnx::insert_before(position, node);
  model.name_node(node, "node_" + std::string(name));
  onnx::infer(node, *model.pool, opset_of(position->graph));
  return node;
}

onnx::ValueInfo* insert_cast(onnx::Node* position, onnx::ValueInfo* x, onnx::DType dtype) {
  return insert_node(position, "Cast", {x}, {{"to", static_cast<std::int64_t>(dtype), {}}},
                     x->name + "_Cast")
      ->output();
}

bool can_replace(const ValueInfo* from, const ValueInfo* to) {
  if (from == to) return false;
  if (from->returns.empty()) return true;
  return from->returns.size() == 1 && to->returns.empty() && to->producer != nullptr &&
         to->graph == from->graph;
}

void take_over(ValueInfo* from, ValueInfo* to) {
  if (!from->returns.empty()) {
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

bool replace(ValueInfo* from, ValueInfo* to) {
  if (!can_replace(from, to)) return false;
  take_over(from, to);
  onnx::replace_all_uses(from, to);
  erase_unused(from->producer);
  return true;
}

bool used_once(const ValueInfo* value) { return value->uses.size() == 1 && value->returns.empty(); }

Node* made_by(const ValueInfo* value, std::string_view op_type) {
  Node* const producer = value == nullptr ? nullptr : value->producer;
  return producer != nullptr && producer->is(op_type) ? producer : nullptr;
}

Node* made_by(const ValueInfo* value, onnx::Op op) {
  Node* const producer = value == nullptr ? nullptr : value->producer;
  return producer != nullptr && producer->is(op) ? producer : nullptr;
}

}  // namespace sardonyx::passes
