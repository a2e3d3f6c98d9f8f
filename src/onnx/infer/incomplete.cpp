#include "onnx/infer/incomplete.h"

#include <fmt/format.h>

#include <algorithm>

#include "onnx/operators/operator.h"

namespace sardonyx::onnx {
namespace {

// The first that is not given; null where all are that this version and the newest both need: some
// files say nothing where an older version had them give what nobody read.
const Formal* lacking(std::span<ValueInfo* const> given, std::span<const Formal> formals,
                      std::size_t needed) {
  for (std::size_t i = 0; i < std::min(needed, formals.size()); ++i) {
    const bool is_given = i < given.size() && given[i] != nullptr;
    if (!is_given && formals[i].option != FormalOption::kOptional) return &formals[i];
  }
  return nullptr;
}

const Formal* lacking(const Node* node, std::int64_t opset) {
  const Operator& op = operator_of(node->op);
  const OperatorVersion* version = op.at(opset);
  const OperatorVersion& newest = op.versions.back();
  if (version == nullptr) version = &newest;
  if (const Formal* input =
          lacking(node->inputs, version->inputs, std::min(version->min_inputs, newest.min_inputs)))
    return input;
  return lacking(node->outputs, version->outputs,
                 std::min(version->min_outputs, newest.min_outputs));
}

void visit(Graph* graph, std::int64_t opset, std::vector<Dispute>& found) {
  for (Node* node = graph->first; node != nullptr; node = node->next) {
    for (Graph* body : bodies(node)) visit(body, opset, found);
    if (node->op == kUnknownOp) continue;
    const Formal* missing = lacking(node, opset);
    if (missing == nullptr) continue;
    node->op = kUnknownOp;
    found.push_back({node->name.empty() ? node->op_type : node->name,
                     fmt::format("it lacks '{}', which its operator needs", missing->name)});
  }
}

}  // namespace

std::vector<Dispute> set_incomplete_aside(Model& model) {
  std::vector<Dispute> found;
  visit(model.graph, opset_of(model.graph), found);
  for (const Function& function : model.functions)
    if (function.body != nullptr) visit(function.body, opset_of(function.body), found);
  return found;
}

}  // namespace sardonyx::onnx
