#include "passes/outlining/outline_modules.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/diagnostic.h"
#include "passes/outlining/module_call.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Function;
using onnx::Graph;
using onnx::Node;
using onnx::Origin;
using onnx::ValueInfo;

constexpr std::int64_t kFirstOpset = 15;

// The call of a module that a node is part of, at a depth of the module tree (1: the root's own
// modules).
struct Frame {
  std::string_view path;
  std::string_view type;
  std::uint32_t call = 0;
  friend bool operator==(const Frame&, const Frame&) = default;
};

Frame frame_at(const Node* node, std::size_t depth) {
  const Origin* origin = node->origin;
  if (origin == nullptr || depth >= origin->scopes.size() || depth >= origin->classes.size())
    return {};
  const std::uint32_t call = depth < origin->calls.size() ? origin->calls[depth] : 0;
  return {origin->scopes[depth], origin->classes[depth], call};
}

// What is only the size of something, which parts of the program share: it belongs to nobody.
bool is_size(const Node* node) {
  return std::ranges::all_of(node->outputs, [](const ValueInfo* output) {
    return output != nullptr && output->dtype == onnx::DType::kInt64 && !output->contents.empty();
  });
}

// As far as two types agree.
void widen(ValueInfo* value, const ValueInfo* other) {
  if (!value->has_rank) return;
  if (!other->has_rank || other->shape.size() != value->shape.size()) {
    value->has_rank = false;
    value->shape.clear();
    return;
  }
  for (std::size_t i = 0; i < value->shape.size(); ++i) {
    if (!(value->shape[i] == other->shape[i])) value->shape[i] = symbolic::Expr();
  }
}

void copy_type(const ValueInfo* from, ValueInfo* to) {
  to->type_kind = from->type_kind;
  to->dtype = from->dtype;
  to->has_rank = from->has_rank;
  to->shape = from->shape;
  to->is_complex = from->is_complex;
}

class Outliner {
 public:
  Outliner(onnx::Model& model, const ChooseClass& choose) : model_(model), choose_(choose) {}

  std::vector<std::string> run() {
    if (onnx::opset_of(model_.graph) < kFirstOpset)
      base::fail("SX1802", "functions of a model need opset 15 or newer",
                 "choose a higher opset, or leave modules and layers inline");
    graph(model_.graph);
    std::vector<std::string> names;
    for (const Made& made : made_) names.push_back(made.domain + "::" + made.name);
    return names;
  }

 private:
  struct Made {
    std::string domain, name;
    std::vector<ValueInfo*> values;  // inputs and values of the body, in the order of a call's
    const Graph* body;
  };

  void graph(Graph* graph) {
    for (Node* node = graph->first; node != nullptr; node = node->next) {
      for (Graph* body : onnx::bodies(node)) this->graph(body);
    }
    // A body belongs to the module whose code holds the control flow: what it may still hold are
    // modules below that one.
    if (graph->first != nullptr) modules(graph->first, graph->last, depth_of(graph));
  }

  static std::size_t depth_of(const Graph* graph) {
    const Origin* origin = graph->owner != nullptr ? graph->owner->origin : nullptr;
    return origin == nullptr ? 1 : origin->scopes.size();
  }

  // Outlines the calls among the nodes first to last. Returns the last node there is then.
  Node* modules(Node* first, Node* last, std::size_t depth) {
    Node* const end = last->next;
    Node* newest = last;
    for (Node* start = first; start != end;) {
      const Frame frame = frame_at(start, depth);
      Node* stop = start;
      while (stop->next != end && frame_at(stop->next, depth) == frame) stop = stop->next;
      Node* const after = stop->next;
      if (frame.type.empty()) {
        newest = stop;
      } else {
        newest = module(start, stop, frame, depth);
      }
      start = after;
    }
    return newest;
  }

  Node* module(Node* first, Node* last, const Frame& frame, std::size_t depth) {
    Node* const before = first->previous;
    Graph* const graph = first->graph;
    const std::string path(frame.path), type(frame.type);  // of nodes that may go
    last = modules(first, last, depth + 1);
    first = before != nullptr ? before->next : graph->first;
    if (!choose_(type)) return last;
    first = hoist_sizes(first, last);
    return outline(ModuleCall(first, last, path), type, depth);
  }

  // Sizes of what comes from outside, read outside too, go in front: otherwise the call that
  // happens to compute one first would differ from all others. The first node that stays.
  static Node* hoist_sizes(Node* first, Node* last) {
    std::set<const Node*> inside;
    for (Node* node = first;; node = node->next) {
      inside.insert(node);
      if (node == last) break;
    }
    const auto from_outside = [&](const ValueInfo* input) {
      return input == nullptr || input->producer == nullptr || !inside.contains(input->producer);
    };
    Node* start = first;
    for (Node* node = first; node != nullptr;) {
      Node* const next = node == last ? nullptr : node->next;
      if (is_size(node) && std::ranges::all_of(node->inputs, from_outside) && next != nullptr) {
        inside.erase(node);
        if (node == start) {
          start = next;
        } else {
          onnx::move_before(start, node);
        }
      }
      node = next;
    }
    return start;
  }

  Node* outline(const ModuleCall& call, const std::string& type, std::size_t depth) {
    if (call.outputs.empty()) return call.nodes.back();
    const std::string key = type + "\n" + call.structure();
    const auto known = by_structure_.find(key);
    Node* const position = call.nodes.front()->previous;
    Graph* const graph = call.nodes.front()->graph;
    Node* const node = call_node(call, depth);
    if (known == by_structure_.end()) {
      by_structure_.emplace(key, made_.size());
      define(call, type);
      onnx::set_operator(node, made_.back().name, made_.back().domain);
    } else {
      const Made& made = made_[known->second];
      onnx::set_operator(node, made.name, made.domain);
      share(made, call);
    }
    hand_over(call, node);
    if (known != by_structure_.end()) erase(call);
    if (position != nullptr) {
      onnx::insert_after(position, node);
    } else if (graph->first != nullptr) {
      onnx::insert_before(graph->first, node);
    } else {
      onnx::append(graph, node);
    }
    return node;
  }

  // The node that stands for the call, in no graph yet and without outputs.
  Node* call_node(const ModuleCall& call, std::size_t depth) {
    Node* node = model_.add_node({}, {});
    model_.name_node(node, call.path);
    for (ValueInfo* input : call.inputs) onnx::add_input(node, input);
    const Origin& inner = *call.nodes.front()->origin;
    Origin origin;
    const auto upper = static_cast<std::ptrdiff_t>(depth + 1);
    origin.scopes.assign(inner.scopes.begin(), inner.scopes.begin() + upper);
    origin.classes.assign(inner.classes.begin(), inner.classes.begin() + upper);
    if (inner.calls.size() > depth)
      origin.calls.assign(inner.calls.begin(), inner.calls.begin() + upper);
    node->origin = model_.add_origin(std::move(origin));
    return node;
  }

  // Makes the call's nodes the body of a function. Its outputs are left to hand_over().
  void define(const ModuleCall& call, const std::string& type) {
    const std::size_t dot = type.rfind('.');
    Made made;
    made.domain = dot == std::string::npos ? std::string("torch") : type.substr(0, dot);
    made.name = fresh_name(made.domain, dot == std::string::npos ? type : type.substr(dot + 1));

    Function function;
    function.domain = made.domain;
    function.name = made.name;
    function.body = model_.add_graph(made.name, nullptr);
    made.body = function.body;
    for (Node* node : call.nodes) onnx::move_to_end(function.body, node);
    for (ValueInfo* input : call.inputs) made.values.push_back(add_input(call, input, function));
    function.opsets = opsets_of(call);
    model_.opsets[made.domain] = 1;
    made.values.insert(made.values.end(), call.values.begin(), call.values.end());
    model_.functions.push_back(std::move(function));
    made_.push_back(std::move(made));
  }

  ValueInfo* add_input(const ModuleCall& call, ValueInfo* outer, const Function& function) {
    ValueInfo* inner = model_.add_input(function.body, call.input_name(outer));
    copy_type(outer, inner);
    const std::vector<onnx::Use> uses = outer->uses;
    for (const onnx::Use& use : uses)
      if (call.inside.contains(use.node)) onnx::set_input(use.node, use.index, inner);
    replace_in_bodies(call, outer, inner);
    return inner;
  }

  // Bodies inside the call may hand out a value of the graph around them.
  static void replace_in_bodies(const ModuleCall& call, ValueInfo* from, ValueInfo* to) {
    if (from->returns.empty()) return;
    for (const Node* node : call.inside) {
      for (Graph* body : onnx::bodies(node)) {
        std::vector<ValueInfo*> outputs = body->outputs;
        std::ranges::replace(outputs, from, to);
        onnx::set_outputs(body, std::move(outputs));
      }
    }
  }

  // Another call of a function that is there: its types hold for both.
  static void share(const Made& made, const ModuleCall& call) {
    std::size_t i = 0;
    for (const ValueInfo* input : call.inputs) widen(made.values[i++], input);
    for (const ValueInfo* value : call.values) widen(made.values[i++], value);
    for (ValueInfo* output : made.body->outputs) output->contents.clear();
  }

  // The values that are read outside become the node's; what made them gets others.
  void hand_over(const ModuleCall& call, Node* node) {
    std::vector<ValueInfo*> inner_outputs;
    for (ValueInfo* outer : call.outputs) {
      Node* const producer = outer->producer;
      // The name stays inside; the node outside has it, too.
      ValueInfo* inner = model_.declare_value(outer->name, producer->graph);
      copy_type(outer, inner);
      inner->producer = producer;
      inner->index = outer->index;
      inner->graph = producer->graph;
      producer->outputs[outer->index] = inner;
      const std::vector<onnx::Use> uses = outer->uses;
      for (const onnx::Use& use : uses)
        if (call.inside.contains(use.node)) onnx::set_input(use.node, use.index, inner);
      replace_in_bodies(call, outer, inner);
      for (Made& made : made_) {
        if (made.body == producer->graph) std::ranges::replace(made.values, outer, inner);
      }
      onnx::add_output(node, outer);
      inner_outputs.push_back(inner);
    }
    if (made_.back().body == call.nodes.front()->graph)
      onnx::set_outputs(model_.functions.back().body, std::move(inner_outputs));
  }

  static void erase(const ModuleCall& call) {
    for (auto node = call.nodes.rbegin(); node != call.nodes.rend(); ++node) onnx::erase(*node);
  }

  std::map<std::string, std::int64_t> opsets_of(const ModuleCall& call) const {
    std::map<std::string, std::int64_t> opsets = {{"", model_.opsets.at("")}};
    for (const Node* node : call.inside) {
      const auto found = model_.opsets.find(node->domain);
      opsets[node->domain] = found == model_.opsets.end() ? 1 : found->second;
    }
    return opsets;
  }

  // "Linear", then "Linear.1".
  std::string fresh_name(const std::string& domain, const std::string& wanted) {
    const int count = counts_[domain + "::" + wanted]++;
    return count == 0 ? wanted : wanted + "." + std::to_string(count);
  }

  onnx::Model& model_;
  const ChooseClass& choose_;
  std::vector<Made> made_;
  std::unordered_map<std::string, std::size_t> by_structure_;
  std::unordered_map<std::string, int> counts_;
};

}  // namespace

std::vector<std::string> outline_modules(onnx::Model& model, const ChooseClass& choose) {
  return Outliner(model, choose).run();
}

}  // namespace sardonyx::passes
