#include "targets/raise.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "onnx/emit/inlining.h"
#include "onnx/emit/opset_upgrade.h"
#include "onnx/emit/rebuild.h"
#include "onnx/gen/op.h"
#include "onnx/graph/attribute_data.h"

namespace sardonyx::targets {
namespace {

// Emits the canonical IR into an existing model, from operators as its opset has them.
class Raising : public onnx::Emit {
 public:
  Raising(onnx::Model& model, std::int64_t opset)
      : Emit(model, onnx::newest_opset(), {.opset = opset}) {}

  bool has_newest_form(const onnx::Node* node) const {
    return node->op == onnx::kUnknownOp ||
           !onnx::has_older_form(onnx::operator_of(node->op), named_opset());
  }
};

// Before version 4 of the format's intermediate representation initializers were inputs, so that
// models have nodes for their constants. The model becomes one of a newer version.
void hold_constants(onnx::Model& model, onnx::Graph* graph) {
  for (onnx::Node *node = graph->first, *next = nullptr; node != nullptr; node = next) {
    next = node->next;
    for (onnx::Graph* body : onnx::bodies(node)) hold_constants(model, body);
    if (!node->is(onnx::Op::kConstant) || node->attributes.size() != 1 ||
        node->outputs.size() != 1 || !node->attributes.front().reference.empty())
      continue;
    onnx::ValueInfo* const value = node->output();
    std::optional<onnx::Tensor> data = onnx::tensor_of(node->attributes.front().data);
    if (!data || value == nullptr || !value->returns.empty()) continue;
    node->outputs.clear();
    onnx::erase(node);
    value->producer = nullptr;
    value->dtype = data->dtype;
    value->has_rank = true;
    value->shape.assign(data->dims.begin(), data->dims.end());
    value->is_weight = base::is_floating(data->dtype) && data->element_count() > 1;
    value->constant = std::make_shared<const onnx::Tensor>(*std::move(data));
    model.initializers.push_back(value);
    if (graph == model.graph)
      value->graph = graph;
    else
      model.move_to_main(value);
  }
}

}  // namespace

void raise(onnx::Model& model, bool inline_functions) {
  const std::int64_t opset = onnx::opset_of(model.graph);
  if (model.ir_version > 0 && model.ir_version < 4) hold_constants(model, model.graph);
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
  // A file that is at fault, as of a function that calls itself, is no matter of the opset.
  const auto is_malformed = [](const base::Diagnostic& each) {
    return std::string_view(each.code).starts_with("SX11");
  };
  if (std::ranges::any_of(failures, is_malformed)) throw base::Error(std::move(failures));
  if (!failures.empty()) throw Unsupported(std::move(failures));
  if (inline_functions) model.functions.clear();
  model.opsets[""] = onnx::newest_opset();
}

}  // namespace sardonyx::targets
