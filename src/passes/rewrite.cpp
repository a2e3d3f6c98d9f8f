#include "passes/rewrite.h"

#include <algorithm>
#include <utility>

#include "onnx/emit/emit.h"
#include "onnx/infer/infer.h"

namespace sardonyx::passes {

using onnx::Node;
using onnx::ValueInfo;

namespace {

// From the node back to whatever only it needed.
void erase_unused(Node* node) {
  std::vector<Node*> waiting{node};
  while (!waiting.empty()) {
    Node* const last = waiting.back();
    waiting.pop_back();
    if (last == nullptr || last->graph == nullptr) continue;
    const bool needed = std::ranges::any_of(last->outputs, [](const ValueInfo* output) {
      return output != nullptr && onnx::has_uses(output);
    });
    if (needed) continue;
    // What a body reads is left to drop-unused-nodes.
    for (const ValueInfo* input : last->inputs)
      if (input != nullptr) waiting.push_back(input->producer);
    onnx::erase(last);
  }
}

}  // namespace

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
  node->name = model.unique_name("node_" + std::string(name));
  for (std::size_t i = 0; i < outputs; ++i)
    onnx::add_output(node, model.add_value(std::string(name)));
  onnx::insert_before(position, node);
  onnx::infer(node, *model.pool, opset_of(model));
  return node;
}

onnx::ValueInfo* insert_cast(onnx::Node* position, onnx::ValueInfo* x, onnx::DType dtype) {
  return insert_node(position, "Cast", {x}, {{"to", static_cast<std::int64_t>(dtype), {}}},
                     x->name + "_Cast")
      ->output();
}

bool can_replace(const ValueInfo* from, const ValueInfo* to) {
  if (from == to) return false;
  if (from->output_uses == 0) return true;
  return from->output_uses == 1 && to->output_uses == 0 && to->producer != nullptr &&
         to->graph == from->graph;
}

bool replace(ValueInfo* from, ValueInfo* to) {
  if (!can_replace(from, to)) return false;
  if (from->output_uses > 0) {
    onnx::Model& model = *from->graph->model;
    const std::string name = from->name;
    model.rename(from, name + "_replaced");
    model.rename(to, name);
    // The interface says of it what it said before.
    if (from->has_rank) {
      to->has_rank = true;
      to->shape = from->shape;
    }
    if (from->dtype != onnx::DType::kUndefined) to->dtype = from->dtype;
  }
  onnx::replace_all_uses(from, to);
  erase_unused(from->producer);
  return true;
}

bool used_once(const ValueInfo* value) {
  return value->uses.size() == 1 && value->output_uses == 0;
}

Node* made_by(const ValueInfo* value, std::string_view op_type) {
  Node* const producer = value == nullptr ? nullptr : value->producer;
  return producer != nullptr && producer->is(op_type) ? producer : nullptr;
}

}  // namespace sardonyx::passes
