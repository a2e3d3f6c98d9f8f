#include "targets/raise.h"

#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "onnx/emit/inlining.h"
#include "onnx/emit/newest_forms.h"
#include "onnx/emit/rebuild.h"

namespace sardonyx::targets {
namespace {

// Emits the core dialect into a model that is there, from operators as its opset has them.
class Raising : public onnx::Emit {
 public:
  Raising(onnx::Model& model, std::int64_t opset)
      : Emit(model, onnx::newest_opset(), {.opset = opset}) {}

  bool has_newest_form(const onnx::Node* node) const {
    return node->op == onnx::kUnknownOp ||
           !onnx::has_older_form(onnx::operator_of(node->op), named_opset());
  }
};

}  // namespace

void raise(onnx::Model& model, bool inline_functions) {
  const std::int64_t opset = onnx::opset_of(model.graph);
  Raising onnx(model, opset);
  onnx::Inlining functions(model);
  const auto is_call = [&](const onnx::Node* node) {
    return inline_functions && functions.called(node) != nullptr;
  };
  std::vector<base::Diagnostic> failures;
  onnx::rebuild(
      model, onnx,
      {.keeps =
           [&](const onnx::Node* node) { return !is_call(node) && onnx.has_newest_form(node); },
       .rebuilt =
           [&](const onnx::Node* node, std::span<const onnx::Value> inputs) {
             if (is_call(node)) return functions.emitted(onnx, node, inputs);
             return onnx.node("", node->op_type, inputs, node->attributes, node->outputs.size());
           },
       .failed =
           [&](const onnx::Node* node, const base::Error& error) {
             for (base::Diagnostic diagnostic : error.diagnostics()) {
               if (diagnostic.op.empty()) diagnostic.op = node->op_type;
               if (diagnostic.node.empty()) diagnostic.node = node->name;
               failures.push_back(std::move(diagnostic));
             }
           }});
  if (!failures.empty()) throw Unsupported(std::move(failures));
  if (inline_functions) model.functions.clear();
  model.opsets[""] = onnx::newest_opset();
}

}  // namespace sardonyx::targets
