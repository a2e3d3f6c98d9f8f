#include "targets/lower.h"

#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "base/stack_trace.h"
#include "onnx/emit/rebuild.h"

namespace sardonyx::targets {
namespace {

// What the diagnostic is about, and where the user wrote it.
void place(base::Diagnostic& diagnostic, const onnx::Node* node) {
  if (!diagnostic.op.empty()) return;
  const onnx::Origin* origin = node->origin;
  if (origin == nullptr) {
    diagnostic.op = node->op_type;
    diagnostic.node = node->name;
    return;
  }
  diagnostic.op = origin->op;
  diagnostic.node = origin->captured_node;
  diagnostic.location = base::user_location(origin->stack_trace);
  if (origin->scopes.empty()) return;
  const std::string& type = origin->classes.back();
  diagnostic.module_path =
      base::module_path(origin->scopes.back(), type.substr(type.rfind('.') + 1));
}

}  // namespace

void lower(onnx::Model& model, const Target& target, const LowerOptions& options) {
  Lowering onnx(model, target, options);
  std::vector<base::Diagnostic> failures;
  onnx::rebuild(
      model, onnx,
      {.keeps = [&](const onnx::Node* node) { return onnx.takes(node); },
       .rebuilt = [&](const onnx::Node* node,
                      std::span<const Value> inputs) { return onnx.lowered(node, inputs); },
       .failed =
           [&](const onnx::Node* node, const base::Error& error) {
             if (options.keep_what_fails && onnx.says(node)) return;
             for (base::Diagnostic diagnostic : error.diagnostics()) {
               place(diagnostic, node);
               failures.push_back(std::move(diagnostic));
             }
           }});
  if (!failures.empty()) throw Unsupported(std::move(failures));
  model.target = target.name;
  model.opsets[""] = options.opset;
  model.ir_version = onnx::ir_version_of(options.opset);
}

}  // namespace sardonyx::targets
