#include "targets/lower.h"

#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "base/stack_trace.h"
#include "onnx/emit/emit_state.h"
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

// Attributes as the emitter writes them, whoever made the node: without those that hold anyway. But
// onnx.checker infers the shape of an STFT without `onesided` as if it were 0, and refuses a model
// that has the right shape.
void settle_attributes(onnx::Graph* graph, std::int64_t opset) {
  for (onnx::Node* node = graph->first; node != nullptr; node = node->next) {
    for (onnx::Graph* body : onnx::bodies(node)) settle_attributes(body, opset);
    if (node->op == onnx::kUnknownOp) continue;
    if (node->is(Op::kSTFT)) {
      if (node->find("onesided") == nullptr) onnx::set_attribute(node, "onesided", std::int64_t{1});
      continue;
    }
    const onnx::OperatorVersion* version = onnx::operator_of(node->op).at(opset);
    if (version == nullptr) continue;
    std::erase_if(node->attributes, [&](const Attribute& each) {
      const onnx::AttributeFormal* formal = version->attribute(each.name);
      return formal != nullptr && each.reference.empty() && each.carried.empty() &&
             onnx::is_default(*formal, each.data);
    });
  }
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
  settle_attributes(model.graph, options.opset);
  model.target = target.name;
  model.opsets[""] = options.opset;
  model.ir_version = onnx::ir_version_of(options.opset);
}

}  // namespace sardonyx::targets
