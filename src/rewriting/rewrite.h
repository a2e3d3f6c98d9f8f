// What rules rewrite graphs with.
#pragma once

#include <functional>
#include <string_view>

#include "onnx/graph/ir.h"

namespace sardonyx::rewriting {

// Gives `to`, which is to be read instead of `from`, what is known of it; and the name, where
// `from` is an output of a graph, or `with_name` asks for it.
void take_over(onnx::ValueInfo* from, onnx::ValueInfo* to, bool with_name = false);

// Erases a node that nothing reads, and those before it that only it needed. `let_go` is called
// with each value that has lost a reader. What a body reads is left to drop-unused-nodes.
void erase_unused(onnx::Node* node, const std::function<void(const onnx::ValueInfo*)>& let_go = {});

// Whether `to` can stand in for `from`. An output of a graph keeps its name, so that a graph output
// can only be replaced by another node's output, which then takes the name over.
bool can_replace(const onnx::ValueInfo* from, const onnx::ValueInfo* to);

// One node reads it, once, and no graph hands it out.
bool used_once(const onnx::ValueInfo* value);

// The node that made it when it is this operator of ONNX's own; null otherwise.
onnx::Node* made_by(const onnx::ValueInfo* value, std::string_view op_type);
onnx::Node* made_by(const onnx::ValueInfo* value, onnx::Op op);

}  // namespace sardonyx::rewriting
