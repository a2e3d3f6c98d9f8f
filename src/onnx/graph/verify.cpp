// The structural check of a model: what every pass must leave behind.
#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "base/diagnostic.h"
#include "onnx/graph/ir.h"
#include "onnx/operators/operator.h"

namespace sardonyx::onnx {
namespace {

constexpr std::size_t kMaxFindings = 20;

class Verifier {
 public:
  explicit Verifier(const Model& model) : model_(model) {}

  void run() {
    for (const ValueInfo* value : model_.initializers) define(value, "initializer");
    opset_ = opset_of(model_.graph);
    graph(*model_.graph);
    for (const Function& function : model_.functions) {
      if (function.body == nullptr) continue;
      names_.clear();  // a function sees no names but its own
      opset_ = opset_of(function.body);
      graph(*function.body);
    }
    uses();
    if (!findings_.empty()) throw base::Error(std::move(findings_));
  }

 private:
  void find(std::string message) {
    if (findings_.size() >= kMaxFindings) return;
    base::Diagnostic diagnostic;
    diagnostic.code = "SX1501";
    diagnostic.message = std::move(message);
    diagnostic.help = "this is a defect of Sardonyx; please report it";
    findings_.push_back(std::move(diagnostic));
  }

  void define(const ValueInfo* value, std::string_view what) {
    if (!defined_.insert(value).second) find("value " + value->name + " is defined twice");
    if (value->name.empty()) find(std::string(what) + " without a name");
    const auto [found, fresh] = names_.emplace(value->name, value);
    if (!fresh && found->second != value) find("two values are called " + value->name);
    if (value->names == nullptr) find("the name of value " + value->name + " is released");
  }

  void forget(const ValueInfo* value) {
    if (value == nullptr) return;
    defined_.erase(value);
    if (const auto found = names_.find(value->name);
        found != names_.end() && found->second == value)
      names_.erase(found);
  }

  void read(const ValueInfo* value, const std::string& by) {
    if (!defined_.contains(value)) find(by + " reads " + value->name + " before it is defined");
  }

  void graph(const Graph& graph) {
    for (const ValueInfo* input : graph.inputs) define(input, "input");
    for (const ValueInfo* value : graph.sparse) define(value, "sparse initializer");
    const Node* previous = nullptr;
    for (const Node* node = graph.first; node != nullptr; node = node->next) {
      if (node->previous != previous || node->graph != &graph) {
        find("node " + node->name + " is linked wrongly");
        return;  // following wrong links might not end
      }
      if (previous != nullptr && graph.ordered && previous->order >= node->order)
        find("node " + node->name + " has a wrong place in the order");
      previous = node;
      check(*node);
    }
    if (graph.last != previous) find("graph " + graph.name + " ends in another node");
    for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
      const ValueInfo* output = graph.outputs[i];
      read(output, "graph " + graph.name);
      const Return place{const_cast<Graph*>(&graph), static_cast<std::uint32_t>(i)};
      if (!listed(output->returns, graph.slots, i, place))
        find("graph " + graph.name + " is missing from the returns of " + output->name);
      ++returns_[output];
    }
    // What a body defines is not to be seen outside of it, and its names may be taken again.
    if (graph.parent == nullptr) return;
    for (const ValueInfo* input : graph.inputs) forget(input);
    for (const ValueInfo* value : graph.sparse) forget(value);
    for (const Node* node = graph.first; node != nullptr; node = node->next) {
      for (const ValueInfo* output : node->outputs) forget(output);
    }
  }

  // Whether the list of a value's readers has `place` where its slot says.
  template <class Place>
  static bool listed(const std::vector<Place>& places, const std::vector<std::uint32_t>& slots,
                     std::size_t index, const Place& place) {
    return index < slots.size() && slots[index] < places.size() && places[slots[index]] == place;
  }

  void check(const Node& node) {
    const std::string by = "node " + node.name + " (" + node.op_type + ")";
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueInfo* input = node.inputs[i];
      if (input == nullptr) continue;
      read(input, by);
      const Use use{const_cast<Node*>(&node), static_cast<std::uint32_t>(i)};
      if (!listed(input->uses, node.slots, i, use)) {
        find(by + " is missing from the uses of " + input->name);
      }
      ++uses_[input];
    }
    const Operator* const known = node.domain.empty() ? find_operator(node.op_type) : nullptr;
    if (node.op != (known != nullptr ? known->id : kUnknownOp)) find(by + " is numbered wrongly");
    if (node.domain.empty()) signature(node, known, by);
    for (const Graph* body : bodies(&node)) {
      if (body->owner != &node || body->parent != node.graph)
        find(by + " is not the owner of its body " + body->name);
      graph(*body);
    }
    for (const ValueInfo* output : node.outputs) {
      if (output == nullptr) continue;
      if (output->producer != &node) find(by + " is not the producer of " + output->name);
      define(output, "output");
    }
  }

  void signature(const Node& node, const Operator* op, const std::string& by) {
    if (opset_ == 0) return;
    const OperatorVersion* version = op != nullptr ? op->at(opset_) : nullptr;
    if (version == nullptr) {
      find(by + ": opset " + std::to_string(opset_) + " has no such operator");
      return;
    }
    if (node.inputs.size() < version->min_inputs || node.inputs.size() > version->max_inputs) {
      find(by + " has " + std::to_string(node.inputs.size()) + " inputs");
    }
    for (std::size_t i = 0; i < node.inputs.size() && i < version->inputs.size(); ++i) {
      if (version->inputs[i].option == FormalOption::kRequired && node.inputs[i] == nullptr)
        find(by + " lacks its input " + std::string(version->inputs[i].name));
    }
    if (node.outputs.size() < version->min_outputs || node.outputs.size() > version->max_outputs) {
      find(by + " has " + std::to_string(node.outputs.size()) + " outputs");
    }
    for (const Attribute& attribute : node.attributes) {
      if (version->attribute(attribute.name) == nullptr) {
        find(by + ": no attribute " + attribute.name + " at opset " + std::to_string(opset_));
      }
    }
    for (const AttributeFormal& formal : version->attributes) {
      if (formal.required && node.find(formal.name) == nullptr) {
        find(by + " lacks the attribute " + std::string(formal.name));
      }
    }
  }

  void uses() {
    const auto compare = [this](const auto& counts, auto list, std::string_view what) {
      for (const auto& [value, count] : counts) {
        const std::size_t known = (value->*list).size();
        if (known != count)
          find("value " + value->name + " lists " + std::to_string(known) + std::string(what) +
               " and has " + std::to_string(count));
      }
    };
    compare(uses_, &ValueInfo::uses, " uses");
    compare(returns_, &ValueInfo::returns, " returns");
  }

  const Model& model_;
  std::int64_t opset_ = 0;
  std::vector<base::Diagnostic> findings_;
  std::unordered_set<const ValueInfo*> defined_;
  std::unordered_map<std::string_view, const ValueInfo*> names_;
  std::unordered_map<const ValueInfo*, std::size_t> uses_;
  std::unordered_map<const ValueInfo*, std::size_t> returns_;
};

}  // namespace

void verify(const Model& model) { Verifier(model).run(); }

}  // namespace sardonyx::onnx
