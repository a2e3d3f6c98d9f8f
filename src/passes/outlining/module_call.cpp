#include "passes/outlining/module_call.h"

#include <fmt/format.h>

#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>

namespace sardonyx::passes {

using onnx::Graph;
using onnx::Node;
using onnx::Tensor;
using onnx::ValueInfo;

namespace {

constexpr std::int64_t kLargestLiteral = 1024;  // bytes

// Text that two calls have in common exactly when one function serves both.
class Structure {
 public:
  explicit Structure(const ModuleCall& call) {
    for (const ValueInfo* input : call.inputs) {
      name(input);
      // Not by name: a module that stands in two places has its weights under the first one's.
      text_ += fmt::format("<{}:{}>", static_cast<int>(input->dtype), input->constant ? "w" : "");
    }
    for (const Node* node : call.nodes) this->node(*node);
    for (const ValueInfo* output : call.outputs) reference(output);
  }

  std::string text() && { return std::move(text_); }

 private:
  void name(const ValueInfo* value) { numbers_.emplace(value, numbers_.size()); }

  void reference(const ValueInfo* value) {
    if (value == nullptr) {
      text_ += "_;";
    } else if (const auto found = numbers_.find(value); found != numbers_.end()) {
      text_ += fmt::format("{};", found->second);
    } else {
      tensor(*value->constant);
    }
  }

  void tensor(const Tensor& tensor) {
    text_ += fmt::format("c{}", static_cast<int>(tensor.dtype));
    for (const std::int64_t dim : tensor.dims) text_ += fmt::format(",{}", dim);
    text_ += ':';
    for (const std::string& each : tensor.strings) text_ += fmt::format("{}'{}", each.size(), each);
    if (tensor.data == nullptr) return;
    if (tensor.contiguous()) {
      text_.append(reinterpret_cast<const char*>(tensor.data),
                   static_cast<std::size_t>(tensor.byte_count()));
    } else {
      text_ += fmt::format("@{}", static_cast<const void*>(tensor.data));
    }
  }

  void node(const Node& node) {
    text_ += fmt::format("\n{}::{}:{}(", node.domain, node.op_type, node.overload);
    for (const ValueInfo* input : node.inputs) reference(input);
    text_ += ')';
    for (const onnx::Attribute& each : node.attributes) attribute(each);
    for (const ValueInfo* output : node.outputs) {
      if (output == nullptr) {
        text_ += "_;";
        continue;
      }
      name(output);
      text_ += fmt::format("<{},{}>", static_cast<int>(output->dtype),
                           static_cast<int>(output->type_kind));
    }
  }

  void graph(const Graph& graph) {
    text_ += '{';
    for (const ValueInfo* input : graph.inputs) {
      name(input);
      text_ += fmt::format("<{}>", static_cast<int>(input->dtype));
    }
    for (const Node* each = graph.first; each != nullptr; each = each->next) node(*each);
    for (const ValueInfo* output : graph.outputs) reference(output);
    text_ += '}';
  }

  void attribute(const onnx::Attribute& attribute) {
    text_ += fmt::format(" {}@{}#{}=", attribute.name, attribute.reference, attribute.data.index());
    const auto put = [this](const auto& value) {
      using T = std::remove_cvref_t<decltype(value)>;
      if constexpr (std::is_same_v<T, std::shared_ptr<const Tensor>>) {
        tensor(*value);
      } else if constexpr (std::is_same_v<T, Graph*>) {
        graph(*value);
      } else if constexpr (std::is_same_v<T, std::vector<Graph*>>) {
        for (const Graph* each : value) graph(*each);
      } else if constexpr (std::is_same_v<T, std::string>) {
        text_ += fmt::format("{}'{}", value.size(), value);
      } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
        for (const std::string& each : value) text_ += fmt::format("{}'{}", each.size(), each);
      } else if constexpr (std::is_same_v<T, onnx::DType>) {
        text_ += fmt::format("{}", static_cast<int>(value));
      } else if constexpr (std::is_same_v<T, onnx::Opaque>) {
        text_ += fmt::format("{}:{}'{}", value.kind, value.fields.size(), value.fields);
      } else if constexpr (std::is_same_v<T, float>) {
        text_ += fmt::format("{:a}", value);
      } else if constexpr (std::is_same_v<T, std::vector<float>>) {
        for (const float each : value) text_ += fmt::format("{:a},", each);
      } else if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) {
        for (const std::int64_t each : value) text_ += fmt::format("{},", each);
      } else {
        text_ += fmt::format("{}", value);
      }
    };
    std::visit(put, attribute.data);
  }

  std::unordered_map<const ValueInfo*, std::size_t> numbers_;
  std::string text_;
};

}  // namespace

bool is_literal(const ValueInfo* value) {
  return value->constant != nullptr && !value->is_weight && !value->constant->missing &&
         value->constant->is_materialized() && value->constant->byte_count() <= kLargestLiteral;
}

ModuleCall::ModuleCall(Node* first, Node* last, std::string module_path)
    : path(std::move(module_path)) {
  for (Node* node = first;; node = node->next) {
    nodes.push_back(node);
    add(node);
    if (node == last) break;
  }
  weights = found_weights_.size();
  inputs.insert(inputs.end(), found_weights_.begin(), found_weights_.end());
  find_outputs();
}

void ModuleCall::add(Node* node) {
  inside.insert(node);
  for (ValueInfo* input : node->inputs) read(input);
  for (Graph* body : onnx::bodies(node)) {
    for (ValueInfo* input : body->inputs) {
      made_.insert(input);
      values.push_back(input);
    }
    for (Node* inner = body->first; inner != nullptr; inner = inner->next) add(inner);
    for (ValueInfo* output : body->outputs) read(output);
    bodies_.insert(body);
  }
  for (ValueInfo* output : node->outputs) {
    if (output == nullptr) continue;
    made_.insert(output);
    values.push_back(output);
  }
}

void ModuleCall::read(ValueInfo* value) {
  if (value == nullptr || made_.contains(value) || is_literal(value)) return;
  if (!read_.insert(value).second) return;
  (value->constant != nullptr ? found_weights_ : inputs).push_back(value);
}

void ModuleCall::find_outputs() {
  for (const Node* node : nodes) {
    for (ValueInfo* output : node->outputs) {
      if (output == nullptr) continue;
      bool is_read = false;
      for (const onnx::Return& use : output->returns)
        is_read = is_read || !bodies_.contains(use.graph);
      for (const onnx::Use& use : output->uses) is_read = is_read || !inside.contains(use.node);
      if (is_read) outputs.push_back(output);
    }
  }
}

std::string ModuleCall::structure() const { return Structure(*this).text(); }

std::string ModuleCall::input_name(const ValueInfo* input) const {
  const std::string prefix = path + ".";
  return input->name.starts_with(prefix) ? input->name.substr(prefix.size()) : input->name;
}

}  // namespace sardonyx::passes
