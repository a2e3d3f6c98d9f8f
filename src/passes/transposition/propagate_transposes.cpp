// Before: y = Transpose<perm = [0, 3, 1, 2]>(Relu(Add(Transpose<perm = [0, 2, 3, 1]>(x), b)))
// After:  y = Relu(Add(x, b with its axes transposed))
// Converters of other frameworks put a transposition before and behind each convolution. Nodes that
// work alike on all axes are computed in the order of axes that lies before, wherever that leaves
// fewer transpositions than there were: which nodes these are is decided for a graph as a whole,
// and then each is put in front of the transpositions of its inputs, one after the other. Two that
// meet are merge-transposes' matter.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "onnx/gen/op.h"
#include "passes/passes.h"
#include "passes/transposition/transpose_sinking.h"

namespace sardonyx::passes {
namespace {

using onnx::Graph;
using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

// Whether a reader does without the transposition: two that meet become one, and where axes go,
// those that are left may stand in order.
bool absorbs(const Node* reader, const ValueInfo* value, const Perm& perm) {
  if (reader->input(0) != value || std::ranges::count(reader->inputs, value) != 1) return false;
  if (reader->is(Op::kTranspose)) return perm_of(reader).has_value();
  if (reader->is(Op::kReshape) || reader->is(Op::kFlatten)) return moves_no_element(value, perm);
  return lost_axes(reader, perm).has_value();
}

bool undoes(const Node* reader, const Perm& perm) {
  const auto next = perm_of(reader);
  return next && next->size() == perm.size() && changes_nothing(joined(perm, *next));
}

// One group of nodes that hang together by values of one order of axes.
class Region {
 public:
  explicit Region(Perm perm) : perm_(std::move(perm)) {}

  const Perm& perm() const { return perm_; }
  void add_source(const ValueInfo* value) {
    sources_.push_back(value);
    is_source_.insert(value);
  }
  void add(Node* node) {
    nodes_.push_back(node);
    inside_.insert(node);
  }

  // How many transpositions fewer there are, once what does not help is left out.
  std::int64_t gain() {
    // Behind the last one first: what reads it then is outside.
    for (bool changed = true; changed;) {
      changed = false;
      for (auto each = nodes_.rbegin(); each != nodes_.rend(); ++each) {
        if (!inside_.contains(*each) || reads_inside(*each)) continue;
        const std::int64_t before = cost_round(*each);
        inside_.erase(*each);
        if (cost_round(*each) <= before) {
          changed = true;
        } else {
          inside_.insert(*each);
        }
      }
    }
    std::erase_if(nodes_, [&](Node* node) { return !inside_.contains(node); });
    std::int64_t left = 0;
    for (const ValueInfo* source : sources_) left += is_needed(source) - 1;
    for (const Node* node : nodes_)
      for (const ValueInfo* output : node->outputs) left += is_needed(output) - undone(output);
    return -left;
  }

  const std::vector<Node*>& nodes() const { return nodes_; }

 private:
  bool reads_inside(const Node* node) const {
    return std::ranges::any_of(node->outputs, [&](const ValueInfo* output) {
      return std::ranges::any_of(output->uses,
                                 [&](const onnx::Use& use) { return inside_.contains(use.node); });
    });
  }

  // Whether something reads the value as it is transposed.
  std::int64_t is_needed(const ValueInfo* value) const {
    if (!value->returns.empty()) return 1;
    return std::ranges::any_of(value->uses, [&](const onnx::Use& use) {
      return !inside_.contains(use.node) && !absorbs(use.node, value, perm_);
    });
  }

  std::int64_t undone(const ValueInfo* value) const {
    return std::ranges::count_if(value->uses,
                                 [&](const onnx::Use& use) { return undoes(use.node, perm_); });
  }

  // Transpositions that hang on whether the node is inside.
  std::int64_t cost_round(const Node* node) const {
    std::int64_t cost = 0;
    if (inside_.contains(node))
      for (const ValueInfo* output : node->outputs) cost += is_needed(output) - undone(output);
    for (std::size_t i = 0; i < node->inputs.size(); ++i) {
      const ValueInfo* input = node->inputs[i];
      const auto first = std::ranges::find(node->inputs, input) - node->inputs.begin();
      if (input != nullptr && input->producer != nullptr && is_mine(input) &&
          first == static_cast<std::ptrdiff_t>(i))
        cost += is_needed(input);
    }
    return cost;
  }

  bool is_mine(const ValueInfo* value) const {
    return inside_.contains(value->producer) || is_source_.contains(value);
  }

  Perm perm_;
  std::vector<const ValueInfo*> sources_;
  std::unordered_set<const ValueInfo*> is_source_;
  std::vector<Node*> nodes_;  // in the order of the graph
  std::unordered_set<const Node*> inside_;
};

class Mover {
 public:
  Mover(Graph* graph, RuleContext& context) : graph_(graph), context_(context) {}

  std::int64_t run() {
    for (Node* node = graph_->first; node != nullptr; node = node->next) look_at(node);
    std::unordered_map<std::size_t, Region> regions;
    std::vector<std::size_t> order;
    for (Node* node = graph_->first; node != nullptr; node = node->next)
      for (ValueInfo* output : node->outputs)
        if (output != nullptr && order_of_.contains(output)) gather(output, regions, order);
    std::int64_t moved = 0;
    for (const std::size_t each : order) {
      Region& region = regions.at(each);
      if (region.gain() <= 0) continue;
      for (Node* node : region.nodes()) moved += move(node, region.perm());
    }
    return moved;
  }

 private:
  // Which values can be had untransposed, and which of these go together.
  void look_at(Node* node) {
    if (const auto perm = perm_of(node); perm && !changes_nothing(*perm)) {
      enter(node->output(), *perm);
      return;
    }
    const ValueInfo* first = nullptr;
    for (const ValueInfo* input : node->inputs)
      if (input != nullptr && order_of_.contains(input)) first = first == nullptr ? input : first;
    if (first == nullptr) return;
    const Perm perm = perms_[order_of_.at(first)];
    const auto available = [&](const ValueInfo* value) {
      const auto found = order_of_.find(value);
      return found != order_of_.end() && perms_[found->second] == perm;
    };
    if (!transposed(node, perm, available)) return;
    for (const ValueInfo* output : node->outputs)
      if (!output->has_rank || output->shape.size() != perm.size() || output->is_disputed) return;
    for (const ValueInfo* input : node->inputs)
      if (input != nullptr && available(input)) join(order_of_.at(first), order_of_.at(input));
    for (ValueInfo* output : node->outputs) {
      enter(output, perm);
      join(order_of_.at(first), order_of_.at(output));
    }
  }

  void enter(const ValueInfo* value, const Perm& perm) {
    order_of_[value] = perms_.size();
    parents_.push_back(perms_.size());
    perms_.push_back(perm);
  }

  std::size_t root(std::size_t each) {
    while (parents_[each] != each) each = parents_[each] = parents_[parents_[each]];
    return each;
  }
  void join(std::size_t a, std::size_t b) { parents_[root(b)] = root(a); }

  void gather(ValueInfo* value, std::unordered_map<std::size_t, Region>& regions,
              std::vector<std::size_t>& order) {
    const std::size_t which = root(order_of_.at(value));
    const auto [found, is_new] = regions.try_emplace(which, perms_[which]);
    if (is_new) order.push_back(which);
    if (perm_of(value->producer)) {
      found->second.add_source(value);
    } else if (value->index == 0) {
      found->second.add(value->producer);
    }
  }

  std::int64_t move(Node* node, const Perm& perm) {
    if (node->graph == nullptr) return 0;
    const auto untransposed = [&](const ValueInfo* value) -> ValueInfo* {
      return perm_of(value->producer) == perm ? value->producer->input(0) : nullptr;
    };
    const auto how = transposed(
        node, perm, [&](const ValueInfo* value) { return untransposed(value) != nullptr; });
    if (!how) return 0;
    std::vector<ValueInfo*> operands(how->inputs.size(), nullptr);
    for (std::size_t i = 0; i < operands.size(); ++i)
      if (how->inputs[i].kind == Transposed::Input::kOperand)
        operands[i] = untransposed(node->input(i));
    return put_behind(node, perm, *how, operands, context_) ? 1 : 0;
  }

  Graph* graph_;
  RuleContext& context_;
  std::unordered_map<const ValueInfo*, std::size_t> order_of_;
  std::vector<Perm> perms_;
  std::vector<std::size_t> parents_;
};

std::int64_t move_in(Graph* graph, RuleContext& context) {
  std::int64_t moved = 0;
  for (Node* node = graph->first; node != nullptr; node = node->next)
    for (Graph* body : onnx::bodies(node)) moved += move_in(body, context);
  // The forms of operators that are looked for came with this opset.
  return onnx::opset_of(graph) < 18 ? moved : moved + Mover(graph, context).run();
}

}  // namespace

std::int64_t propagate_transposes(RuleContext& context) {
  std::int64_t moved = move_in(context.model().graph, context);
  for (const onnx::Function& function : context.model().functions)
    if (function.body != nullptr) moved += move_in(function.body, context);
  return moved;
}

}  // namespace sardonyx::passes
