// Before: y = Relu(x), and nothing reads y.
// After:  (gone, and whatever only it needed)
#include "passes/passes.h"

namespace sardonyx::passes {
namespace {

bool unused(const onnx::Node* node) {
  for (const onnx::ValueInfo* output : node->outputs) {
    if (output && onnx::has_uses(output)) return false;
  }
  return true;
}

// From the last node to the first, so that a whole chain goes in one sweep.
bool sweep(onnx::Graph* graph) {
  bool changed = false;
  for (onnx::Node* node = graph->last; node;) {
    onnx::Node* const previous = node->previous;
    if (unused(node)) {
      onnx::erase(node);
      changed = true;
    } else {
      for (onnx::Graph* body : onnx::bodies(node)) changed |= sweep(body);
    }
    node = previous;
  }
  return changed;
}

}  // namespace

bool drop_unused_nodes(onnx::Model& model) {
  bool changed = sweep(model.graph);
  for (const onnx::Function& function : model.functions)
    if (function.body != nullptr) changed |= sweep(function.body);
  return changed;
}

}  // namespace sardonyx::passes
