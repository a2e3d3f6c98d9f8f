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

constexpr std::size_t kMostFindings = 20;

class Verifier {
 public:
  explicit Verifier(const Model& model) : model_(model) {}

  void run() {
    for (const ValueInfo* value : model_.initializers) define(value, "initializer");
    graph(*model_.graph);
    for (const Function& function : model_.functions) {
      if (function.body == nullptr) continue;
      names_.clear();  // a function sees no names but its own
      graph(*function.body);
    }
    uses();
    if (!findings_.empty()) throw base::Error(std::move(findings_));
  }

 private:
  void find(std::string message) {
    if (findings_.size() >= kMostFindings) return;
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
  }

  void read(const ValueInfo* value, const std::string& by) {
    if (!defined_.contains(value)) find(by + " reads " + value->name + " before it is defined");
  }

  void graph(const Graph& graph) {
    for (const ValueInfo* input : graph.inputs) define(input, "input");
    const Node* previous = nullptr;
    for (const Node* node = graph.first; node != nullptr; node = node->next) {
      if (node->previous != previous || node->graph != &graph) {
        find("node " + node->name + " is linked wrongly");
        return;  // following wrong links might not end
      }
      previous = node;
      check(*node);
    }
    if (graph.last != previous) find("graph " + graph.name + " ends in another node");
    for (const ValueInfo* output : graph.outputs) {
      read(output, "graph " + graph.name);
      ++output_uses_[output];
    }
    // What a body defines is not to be seen outside of it.
    if (graph.parent != nullptr) {
      for (const ValueInfo* input : graph.inputs) defined_.erase(input);
      for (const Node* node = graph.first; node != nullptr; node = node->next) {
        for (const ValueInfo* output : node->outputs) defined_.erase(output);
      }
    }
  }

  void check(const Node& node) {
    const std::string by = "node " + node.name + " (" + node.op_type + ")";
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueInfo* input = node.inputs[i];
      if (input == nullptr) continue;
      read(input, by);
      const Use use{const_cast<Node*>(&node), static_cast<std::uint32_t>(i)};
      if (std::ranges::find(input->uses, use) == input->uses.end()) {
        find(by + " is missing from the uses of " + input->name);
      }
      ++uses_[input];
    }
    if (node.domain.empty()) signature(node, by);
    for (const Graph* body : bodies(&node)) graph(*body);
    for (const ValueInfo* output : node.outputs) {
      if (output == nullptr) continue;
      if (output->producer != &node) find(by + " is not the producer of " + output->name);
      define(output, "output");
    }
  }

  void signature(const Node& node, const std::string& by) {
    const auto opset = model_.opsets.find("");
    if (opset == model_.opsets.end()) return;
    const Operator* op = find_operator(node.op_type);
    const OperatorVersion* version = op != nullptr ? op->at(opset->second) : nullptr;
    if (version == nullptr) {
      find(by + ": opset " + std::to_string(opset->second) + " has no such operator");
      return;
    }
    if (node.inputs.size() < version->min_inputs || node.inputs.size() > version->max_inputs) {
      find(by + " has " + std::to_string(node.inputs.size()) + " inputs");
    }
    if (node.outputs.size() < version->min_outputs || node.outputs.size() > version->max_outputs) {
      find(by + " has " + std::to_string(node.outputs.size()) + " outputs");
    }
    for (const Attribute& attribute : node.attributes) {
      if (version->attribute(attribute.name) == nullptr) {
        find(by + ": no attribute " + attribute.name + " at opset " +
             std::to_string(opset->second));
      }
    }
    for (const AttributeFormal& formal : version->attributes) {
      if (formal.required && node.find(formal.name) == nullptr) {
        find(by + " lacks the attribute " + std::string(formal.name));
      }
    }
  }

  void uses() {
    for (const auto& [value, count] : uses_) {
      if (value->uses.size() != count) {
        find("value " + value->name + " lists " + std::to_string(value->uses.size()) +
             " uses and has " + std::to_string(count));
      }
    }
    for (const auto& [value, count] : output_uses_) {
      if (value->output_uses != count) {
        find("value " + value->name + " counts " + std::to_string(value->output_uses) +
             " uses as an output and has " + std::to_string(count));
      }
    }
  }

  const Model& model_;
  std::vector<base::Diagnostic> findings_;
  std::unordered_set<const ValueInfo*> defined_;
  std::unordered_map<std::string_view, const ValueInfo*> names_;
  std::unordered_map<const ValueInfo*, std::size_t> uses_;
  std::unordered_map<const ValueInfo*, std::uint32_t> output_uses_;
};

}  // namespace

void verify(const Model& model) { Verifier(model).run(); }

}  // namespace sardonyx::onnx
