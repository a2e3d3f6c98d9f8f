// Models as readable text, in the form of the torch.onnx.ops page.
#include <fmt/format.h>

#include <iterator>

#include "onnx/graph/ir.h"

namespace sardonyx::onnx {
namespace {

constexpr std::size_t kMaxElementsShown = 8;

// ONNX's own name of an element type, "FLOAT", "INT64".
std::string_view type_name(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return "FLOAT";
    case DType::kUInt8:
      return "UINT8";
    case DType::kInt8:
      return "INT8";
    case DType::kUInt16:
      return "UINT16";
    case DType::kInt16:
      return "INT16";
    case DType::kInt32:
      return "INT32";
    case DType::kInt64:
      return "INT64";
    case DType::kString:
      return "STRING";
    case DType::kBool:
      return "BOOL";
    case DType::kFloat16:
      return "FLOAT16";
    case DType::kFloat64:
      return "DOUBLE";
    case DType::kUInt32:
      return "UINT32";
    case DType::kUInt64:
      return "UINT64";
    case DType::kBFloat16:
      return "BFLOAT16";
    case DType::kFloat8E4M3FN:
      return "FLOAT8E4M3FN";
    case DType::kFloat8E4M3FNUZ:
      return "FLOAT8E4M3FNUZ";
    case DType::kFloat8E5M2:
      return "FLOAT8E5M2";
    case DType::kFloat8E5M2FNUZ:
      return "FLOAT8E5M2FNUZ";
    case DType::kUInt4:
      return "UINT4";
    case DType::kInt4:
      return "INT4";
    case DType::kFloat4E2M1:
      return "FLOAT4E2M1";
    case DType::kFloat6E2M3:
      return "FLOAT6E2M3";
    case DType::kFloat6E3M2:
      return "FLOAT6E3M2";
    default:
      return base::dtype_name(dtype);
  }
}

std::string printed_type(const ValueInfo& value) {
  if (value.dtype == DType::kUndefined) return "<?,?>";
  std::string shape = "?";
  if (value.has_rank) {
    shape = "[";
    for (std::size_t i = 0; i < value.shape.size(); ++i) {
      const symbolic::Expr dim = value.shape[i];
      shape += (i != 0 ? "," : "") + (dim.known() ? dim.str() : std::string("?"));
    }
    shape += "]";
  }
  std::string text = fmt::format("<{},{}>", type_name(value.dtype), shape);
  return value.type_kind == TypeKind::kSequence ? "<Sequence" + text + ">" : text;
}

std::string contents(const Tensor& tensor) {
  std::string text = "{";
  const auto list = [&](const auto& values) {
    for (std::size_t i = 0; i < values.size(); ++i)
      text += fmt::format("{}{}", i ? "," : "", values[i]);
  };
  if (const auto ints = tensor.ints()) {
    list(*ints);
  } else if (const auto reals = tensor.reals()) {
    list(*reals);
  }
  return text + "}";
}

// A value as it is read: small constants show what they hold.
std::string use_text(const ValueInfo* value) {
  if (value == nullptr) return "None";
  std::string text = fmt::format("%\"{}\"", value->name);
  if (value->constant == nullptr || value->is_weight || value->constant->missing) return text;
  const auto count = static_cast<std::size_t>(value->constant->element_count());
  return count <= kMaxElementsShown ? text + contents(*value->constant) : text + "{...}";
}

class Printer {
 public:
  std::string model(const Model& model) {
    out_ = fmt::format("<\n    ir_version={},\n    opset_imports={{", model.ir_version);
    bool first = true;
    for (const auto& [domain, version] : model.opsets) {
      out_ += fmt::format("{}'{}': {}", first ? "" : ", ", domain, version);
      first = false;
    }
    out_ += fmt::format("}},\n    producer_name='{}',\n    producer_version='{}',\n>\n",
                        model.producer_name, model.producer_version);
    std::vector<const ValueInfo*> initializers;
    for (const ValueInfo* value : model.initializers) {
      if (has_uses(value)) initializers.push_back(value);
    }
    graph(*model.graph, 0, initializers);
    for (const Function& function : model.functions) {
      out_ += fmt::format("\nfunction {}::{}{}{}\n", function.domain, function.name,
                          function.overload.empty() ? "" : ":", function.overload);
      if (function.body != nullptr) graph(*function.body, 0, {});
    }
    return std::move(out_);
  }

 private:
  void line(int depth, std::string_view text) {
    out_.append(static_cast<std::size_t>(depth) * 4, ' ');
    out_ += text;
    out_ += '\n';
  }

  template <class Values>
  void declarations(int depth, std::string_view label, const Values& values) {
    line(depth, fmt::format("{}=(", label));
    std::size_t i = 0;
    for (const ValueInfo* value : values) {
      line(depth + 1, fmt::format("%\"{}\"{}{}", value->name, printed_type(*value),
                                  ++i < values.size() ? "," : ""));
    }
    line(depth, "),");
  }

  void graph(const Graph& graph, int depth, const std::vector<const ValueInfo*>& initializers) {
    line(depth, "graph(");
    line(depth + 1, fmt::format("name={},", graph.name));
    declarations(depth + 1, "inputs", graph.inputs);
    declarations(depth + 1, "outputs", graph.outputs);
    if (!initializers.empty()) declarations(depth + 1, "initializers", initializers);
    line(depth, ") {");
    int number = 0;
    for (const Node* node = graph.first; node != nullptr; node = node->next) {
      this->node(*node, depth + 1, number++);
    }
    std::string outputs;
    for (const ValueInfo* output : graph.outputs) {
      outputs += fmt::format("{}%\"{}\"{}", outputs.empty() ? "" : ", ", output->name,
                             printed_type(*output));
    }
    line(depth + 1, "return " + outputs);
    line(depth, "}");
  }

  void node(const Node& node, int depth, int number) {
    line(depth, fmt::format("{} |  # {}", number, node.name));
    std::string outputs, inputs;
    for (const ValueInfo* output : node.outputs) {
      outputs += outputs.empty() ? "" : ", ";
      outputs += output != nullptr ? fmt::format("%\"{}\"{}", output->name, printed_type(*output))
                                   : std::string("%\"\"");
    }
    for (const ValueInfo* input : node.inputs) {
      inputs += (inputs.empty() ? "" : ", ") + use_text(input);
    }
    std::string text =
        fmt::format("    {} ⬅️ {}::{}({})", outputs, node.domain, node.op_type, inputs);
    std::string attributes;
    for (const Attribute& attribute : node.attributes) {
      const std::string value = attribute_text(attribute);
      if (!value.empty()) {
        attributes += fmt::format("{}{}={}", attributes.empty() ? "" : ", ", attribute.name, value);
      }
    }
    if (!attributes.empty()) text += " {" + attributes + "}";
    line(depth, text);
    for (const Graph* body : bodies(&node)) graph(*body, depth + 2, {});
  }

  struct AttributeText {
    std::string operator()(std::int64_t value) const { return std::to_string(value); }
    std::string operator()(float value) const { return fmt::format("{}", value); }
    std::string operator()(const std::string& value) const { return fmt::format("'{}'", value); }
    std::string operator()(const std::shared_ptr<const Tensor>& value) const {
      const auto count = static_cast<std::size_t>(value->element_count());
      return fmt::format("Tensor{}", count <= kMaxElementsShown ? contents(*value) : "{...}");
    }
    std::string operator()(Graph* /*value*/) const { return {}; }  // printed below the node
    std::string operator()(const std::vector<Graph*>& /*value*/) const { return {}; }
    std::string operator()(const Opaque& /*value*/) const { return "..."; }
    std::string operator()(DType value) const { return std::string(type_name(value)); }
    template <class T>
    std::string operator()(const std::vector<T>& values) const {
      std::string text = "(";
      for (std::size_t i = 0; i < values.size(); ++i) {
        text += (i != 0 ? ", " : "") + (*this)(values[i]);
      }
      return text + ")";
    }
  };

  static std::string attribute_text(const Attribute& attribute) {
    if (!attribute.reference.empty()) return "@" + attribute.reference;
    return std::visit(AttributeText{}, attribute.data);
  }

  std::string out_;
};

}  // namespace

std::string to_string(const Model& model) { return Printer().model(model); }

}  // namespace sardonyx::onnx
