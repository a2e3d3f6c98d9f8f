#include "onnx/infer/conformance.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/diagnostic.h"
#include "onnx/infer/infer.h"
#include "onnx/infer/inference.h"
#include "onnx/infer/merge_types.h"
#include "onnx/operators/operator.h"

namespace sardonyx::onnx {
namespace {

constexpr std::size_t kMaxViolations = 20;
// Inference knows attributes that became inputs since as far as models of such opsets need it.
constexpr std::int64_t kFirstInferred = 13;

// The kind of an attribute's data; kOther for what the tables do not tell apart.
bool has_kind(const Attribute& attribute, AttributeKind kind) {
  const Attribute::Data& data = attribute.data;
  switch (kind) {
    case AttributeKind::kInt:
      return std::holds_alternative<std::int64_t>(data) || std::holds_alternative<DType>(data);
    case AttributeKind::kFloat:
      return std::holds_alternative<float>(data);
    case AttributeKind::kString:
      return std::holds_alternative<std::string>(data);
    case AttributeKind::kTensor:
      return std::holds_alternative<std::shared_ptr<const Tensor>>(data);
    case AttributeKind::kGraph:
      return std::holds_alternative<Graph*>(data);
    case AttributeKind::kInts:
      return std::holds_alternative<std::vector<std::int64_t>>(data);
    case AttributeKind::kFloats:
      return std::holds_alternative<std::vector<float>>(data);
    case AttributeKind::kStrings:
      return std::holds_alternative<std::vector<std::string>>(data);
    case AttributeKind::kOther:
      return true;
  }
  return true;
}

bool has_dtype(const Formal* formal, const ValueInfo* value) {
  if (formal == nullptr || formal->dtypes == 0 || value == nullptr || value->is_disputed ||
      value->type_kind != TypeKind::kTensor || value->dtype == DType::kUndefined)
    return true;
  return (formal->dtypes & dtype_bit(value->dtype)) != 0;
}

// A size that a run tells is none that contradicts another.
bool contradict(const Type& a, const Type& b) {
  if (a.kind != b.kind) return false;
  if (a.dtype != b.dtype && a.dtype != DType::kUndefined && b.dtype != DType::kUndefined)
    return true;
  if (!a.has_rank || !b.has_rank) return false;
  if (a.shape.size() != b.shape.size()) return true;
  for (std::size_t i = 0; i < a.shape.size(); ++i)
    if (a.shape[i].is_constant() && b.shape[i].is_constant() && !(a.shape[i] == b.shape[i]))
      return true;
  return false;
}

class Conformance {
 public:
  Conformance(Model& model, Depth depth) : model_(model), depth_(depth) {}

  std::vector<std::string> run() {
    graph(model_.graph);
    for (const Function& function : model_.functions)
      if (function.body != nullptr) graph(function.body);
    return std::move(found_);
  }

 private:
  void graph(Graph* graph) {
    const std::int64_t opset = opset_of(graph);
    if (opset == 0) return;
    for (Node* node = graph->first; node != nullptr && found_.size() < kMaxViolations;
         node = node->next) {
      for (Graph* body : bodies(node)) this->graph(body);
      if (node->op != kUnknownOp) check(node, opset);
    }
  }

  void find(const Node* node, std::string what) {
    found_.push_back(fmt::format("{} ({}): {}", node->name.empty() ? "a node" : node->name,
                                 node->op_type, what));
  }

  void check(Node* node, std::int64_t opset) {
    const OperatorVersion* version = operator_of(node->op).at(opset);
    if (version == nullptr) return find(node, fmt::format("opset {} has no such operator", opset));
    if (version->deprecated) find(node, fmt::format("it is deprecated in opset {}", opset));
    const std::size_t before = found_.size();
    operands(node, *version);
    attributes(node, *version, opset);
    if (depth_ == Depth::kTypes && opset >= kFirstInferred && found_.size() == before)
      types(node, opset);
  }

  void operands(const Node* node, const OperatorVersion& version) {
    if (node->inputs.size() < version.min_inputs || node->inputs.size() > version.max_inputs)
      find(node, fmt::format("it has {} inputs", node->inputs.size()));
    if (node->outputs.size() < version.min_outputs || node->outputs.size() > version.max_outputs)
      find(node, fmt::format("it has {} outputs", node->outputs.size()));
    for (std::size_t i = 0; i < version.inputs.size(); ++i)
      if (version.inputs[i].option == FormalOption::kRequired && node->input(i) == nullptr)
        find(node, fmt::format("input `{}` is missing", version.inputs[i].name));
    for (std::size_t i = 0; i < node->inputs.size(); ++i)
      if (const Formal* formal = version.input(i); !has_dtype(formal, node->inputs[i]))
        find(node, fmt::format("input `{}` cannot be {}", formal->name,
                               base::dtype_name(node->inputs[i]->dtype)));
    for (std::size_t i = 0; i < node->outputs.size(); ++i)
      if (const Formal* formal = version.output(i); !has_dtype(formal, node->outputs[i]))
        find(node, fmt::format("output `{}` cannot be {}", formal->name,
                               base::dtype_name(node->outputs[i]->dtype)));
  }

  void attributes(const Node* node, const OperatorVersion& version, std::int64_t opset) {
    for (const Attribute& attribute : node->attributes) {
      const AttributeFormal* formal = version.attribute(attribute.name);
      if (formal == nullptr)
        find(node, fmt::format("opset {} has no attribute `{}` of it", opset, attribute.name));
      else if (attribute.reference.empty() && !has_kind(attribute, formal->kind))
        find(node, fmt::format("attribute `{}` is of another type", attribute.name));
    }
    for (const AttributeFormal& formal : version.attributes)
      if (formal.required && node->find(formal.name) == nullptr)
        find(node, fmt::format("attribute `{}` is missing", formal.name));
  }

  // Compares the types that inference gives with those of the outputs, which are restored.
  void types(Node* node, std::int64_t opset) {
    const auto is_open = [](const ValueInfo* value) {
      return value != nullptr && (value->is_disputed || value->type_kind == TypeKind::kOther);
    };
    if (!bodies(node).empty() || std::ranges::any_of(node->inputs, is_open) ||
        std::ranges::any_of(node->outputs, is_open))
      return;
    std::vector<Type> before;
    std::vector<std::vector<symbolic::Expr>> contents;
    for (ValueInfo* output : node->outputs) {
      before.push_back(output == nullptr ? Type{} : type_of(*output));
      contents.push_back(output == nullptr ? std::vector<symbolic::Expr>{} : output->contents);
      if (output != nullptr) set_type(*output, {});
    }
    try {
      infer(node, *model_.pool, opset);
    } catch (const base::Error& error) {
      find(node, error.diagnostics().empty() ? error.what() : error.diagnostics().front().message);
    }
    for (std::size_t i = 0; i < before.size(); ++i) {
      ValueInfo* const output = node->outputs[i];
      if (output == nullptr) continue;
      // What the model hands out may be declared otherwise.
      if (output->returns.empty() && contradict(before[i], type_of(*output)))
        find(node, fmt::format("'{}' cannot be {}", output->name, type_text(*output)));
      set_type(*output, std::move(before[i]));
      output->contents = std::move(contents[i]);
    }
  }

  Model& model_;
  Depth depth_;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> violations(Model& model, Depth depth) {
  return Conformance(model, depth).run();
}

}  // namespace sardonyx::onnx
