// The rules over a model: by the operator at hand, until no neighbor of a change is left to ask.
#include <algorithm>
#include <array>
#include <string>

#include "onnx/operators/operator.h"
#include "rewriting/rule.h"

namespace sardonyx::rewriting {

using onnx::Graph;
using onnx::Node;

class Worklist {
 public:
  Worklist(std::span<const Rule* const> rules, RuleContext& context)
      : rules_(rules),
        context_(context),
        counts_(rules.size(), 0),
        by_operator_(onnx::operators().size()) {
    for (std::size_t i = 0; i < rules.size(); ++i) {
      if (rules[i]->changes_weights && !context.may_change_weights()) continue;
      for (const onnx::Op root : rules[i]->roots)
        by_operator_[static_cast<std::size_t>(root)].push_back(i);
      if (!rules[i]->roots.empty()) continue;
      for (std::vector<std::size_t>& asked : by_operator_) asked.push_back(i);
    }
  }

  std::vector<std::int64_t> run() {
    graph(context_.model().graph);
    for (const onnx::Function& function : context_.model().functions)
      if (function.body != nullptr && !refers_to_attributes(*function.body)) graph(function.body);
    return std::move(counts_);
  }

 private:
  // Rules read attributes as numbers; those that each call gives are none yet.
  static bool refers_to_attributes(const Graph& graph) {
    for (const Node* node = graph.first; node != nullptr; node = node->next) {
      for (const onnx::Attribute& attribute : node->attributes)
        if (!attribute.reference.empty()) return true;
      for (const Graph* body : onnx::bodies(node))
        if (refers_to_attributes(*body)) return true;
    }
    return false;
  }

  void graph(Graph* graph) {
    context_.opset_ = onnx::opset_of(graph);
    // Rules that feed each other would never end; honest ones need a few rounds at most.
    left_ = 1000;
    // What a rule looks at reaches further than the neighbors that a change has asked again.
    wait(graph, true);
    while (ask_those_waiting()) wait(graph, false);
    for (const Node* node : context_.waiting_) context_.is_waiting_[node->id] = false;
    context_.waiting_.clear();
  }

  bool ask_those_waiting() {
    const std::int64_t before = left_;
    while (!context_.waiting_.empty() && left_ > 0) {
      Node* const node = context_.waiting_.front();
      context_.waiting_.pop_front();
      context_.is_waiting_[node->id] = false;
      if (node->graph != nullptr && node->op != onnx::kUnknownOp) ask(node);
    }
    return left_ < before;
  }

  // In order, the nodes of bodies before the node that has them.
  void wait(Graph* graph, bool first) {
    for (Node* node = graph->first; node != nullptr; node = node->next) {
      for (Graph* body : onnx::bodies(node)) wait(body, first);
      context_.touch(node);
      if (first) left_ += kRewritesOfANode;
    }
  }

  void ask(Node* node) {
    for (const std::size_t i : by_operator_[static_cast<std::size_t>(node->op)]) {
      const Rule& rule = *rules_[i];
      if (context_.opset_ < rule.first_opset) continue;
      context_.rule_ = rule.name;
      const bool changed = rule.rewrite(node, context_);
      context_.rule_ = {};
      if (!changed) continue;
      ++counts_[i];
      --left_;
      context_.touch(node);
      return;
    }
  }

  static constexpr std::int64_t kRewritesOfANode = 16;

  std::span<const Rule* const> rules_;
  RuleContext& context_;
  std::vector<std::int64_t> counts_;
  std::vector<std::vector<std::size_t>> by_operator_;
  std::int64_t left_ = 0;
};

std::vector<std::int64_t> apply_rules(std::span<const Rule* const> rules, RuleContext& context) {
  return Worklist(rules, context).run();
}

}  // namespace sardonyx::rewriting
