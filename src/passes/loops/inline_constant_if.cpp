// Before: y = If<then_branch = {a = Exp(x)}, else_branch = {b = Neg(x)}>(true)
// After:  y = Exp(x)
// The branch that is taken stands where the If stood; what was around it is around it still, so
// that nothing has to be renamed. Branches of branches are met in their turn.
#include <optional>
#include <vector>

#include "passes/passes.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Graph;
using onnx::Node;
using onnx::ValueInfo;

// The branch that a constant condition takes.
Graph* taken(const Node* node) {
  const ValueInfo* condition = node->input(0);
  if (condition == nullptr || condition->constant == nullptr || condition->is_disputed)
    return nullptr;
  const auto flag = condition->constant->ints();
  if (!flag || flag->size() != 1) return nullptr;
  const onnx::Attribute* branch = node->find(flag->front() != 0 ? "then_branch" : "else_branch");
  if (branch == nullptr || !branch->reference.empty()) return nullptr;
  const auto* graph = std::get_if<Graph*>(&branch->data);
  return graph == nullptr ? nullptr : *graph;
}

// Each output of the If has one of the branch that can bear its name.
bool can_stand_in(const Node* node, const Graph* branch) {
  if (!branch->sparse.empty() || !branch->annotations.empty() ||
      branch->outputs.size() != node->outputs.size())
    return false;
  for (std::size_t i = 0; i < node->outputs.size(); ++i) {
    const ValueInfo *from = node->outputs[i], *to = branch->outputs[i];
    if (from == nullptr || to == nullptr || from->is_disputed || to->is_disputed) return false;
    const bool own = to->producer != nullptr && to->producer->graph == branch;
    if (from->returns.empty()) continue;
    if (!own || to->returns.size() != 1 || from->returns.size() != 1) return false;
  }
  return true;
}

bool inline_branch(Node* node) {
  Graph* const branch = taken(node);
  if (branch == nullptr || !can_stand_in(node, branch)) return false;
  const std::vector<ValueInfo*> results = branch->outputs;
  onnx::set_outputs(branch, {});
  for (Node* inner = branch->first; inner != nullptr;) {
    Node* const next = inner->next;
    onnx::move_before(node, inner);
    inner = next;
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    take_over(node->outputs[i], results[i]);
    onnx::replace_all_uses(node->outputs[i], results[i]);
  }
  onnx::erase(node);
  return true;
}

bool inline_in(Graph* graph) {
  bool changed = false;
  for (Node* node = graph->first; node != nullptr;) {
    Node* const previous = node->previous;
    Node* const next = node->next;
    if (node->is("If") && inline_branch(node)) {
      changed = true;
      node = previous != nullptr ? previous->next : graph->first;  // the first that moved in
      continue;
    }
    for (Graph* body : onnx::bodies(node)) changed |= inline_in(body);
    node = next;
  }
  return changed;
}

}  // namespace

bool inline_constant_if(onnx::Model& model) {
  bool changed = inline_in(model.graph);
  for (const onnx::Function& function : model.functions)
    if (function.body != nullptr) changed |= inline_in(function.body);
  return changed;
}

}  // namespace sardonyx::passes
