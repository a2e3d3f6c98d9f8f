// What rules rewrite graphs with.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/graph/ir.h"

namespace sardonyx::passes {

// The version of ONNX's own operators; 0 where a model does not say (rules then decline).
std::int64_t opset_of(const onnx::Model& model);

// A new node in front of `position`, which gives it its origin and metadata. The outputs' types are
// inferred; the first is named `name`, and so is the node.
onnx::Node* insert_node(onnx::Node* position, std::string op_type,
                        std::vector<onnx::ValueInfo*> inputs,
                        std::vector<onnx::Attribute> attributes, std::string_view name,
                        std::size_t outputs = 1);

// x in another type, made in front of `position`.
onnx::ValueInfo* insert_cast(onnx::Node* position, onnx::ValueInfo* x, onnx::DType dtype);

// Gives `to`, which is to be read instead of `from`, what is known of it; and the name, where
// `from` is an output of a graph.
void take_over(onnx::ValueInfo* from, onnx::ValueInfo* to);

// Erases a node that nothing reads, and those before it that only it needed. `let_go` is told of
// each value that has lost a reader. What a body reads is left to drop-unused-nodes.
void erase_unused(onnx::Node* node, const std::function<void(const onnx::ValueInfo*)>& let_go = {});

// Whether `to` can stand in for `from`. An output of a graph keeps its name, so that a graph output
// can only be replaced by another node's output, which then takes the name over.
bool can_replace(const onnx::ValueInfo* from, const onnx::ValueInfo* to);

// Reads `to` wherever `from` was read, and erases the nodes that nothing needs any more: the
// producer of `from` and those before it. False, with nothing changed, unless can_replace().
bool replace(onnx::ValueInfo* from, onnx::ValueInfo* to);

// One node reads it, once, and no graph hands it out.
bool used_once(const onnx::ValueInfo* value);

// The node that made it when it is this operator of ONNX's own; null otherwise.
onnx::Node* made_by(const onnx::ValueInfo* value, std::string_view op_type);
onnx::Node* made_by(const onnx::ValueInfo* value, onnx::Op op);

// Calls visit(node) -> bool for the nodes of a graph and its bodies, in order. `visit` may erase
// the node and those before it, and insert nodes before it. True when a call said so.
template <class Visit>
bool each_node(onnx::Graph* graph, const Visit& visit) {
  bool changed = false;
  for (onnx::Node* node = graph->first; node != nullptr;) {
    onnx::Node* const next = node->next;
    for (onnx::Graph* body : onnx::bodies(node)) changed |= each_node(body, visit);
    changed |= visit(node);
    node = next;
  }
  return changed;
}

}  // namespace sardonyx::passes
