#include "cli/model_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string_view>

#include "base/dtype.h"
#include "onnx/graph/count_nodes.h"
#include "sardonyx/report.h"
#include "viewer/model_texts.h"
#include "viewer/modules.h"

namespace sardonyx::cli {
namespace {

using onnx::Graph;
using onnx::Model;
using onnx::Node;
using onnx::ValueInfo;

void count_operators(const Graph& graph, std::map<std::string, std::int64_t>& counts) {
  for (const Node* node = graph.first; node != nullptr; node = node->next) {
    ++counts[viewer::operator_name(*node)];
    for (const Graph* body : onnx::bodies(node)) count_operators(*body, counts);
  }
}

// Bytes by element type, the most first.
std::vector<std::pair<std::string, std::int64_t>> bytes_by_type(const Model& model) {
  std::map<std::string, std::int64_t> bytes;
  for (const ValueInfo* weight : viewer::weights_of(model))
    bytes[std::string(base::dtype_name(weight->constant->dtype))] += weight->constant->byte_count();
  std::vector<std::pair<std::string, std::int64_t>> sorted(bytes.begin(), bytes.end());
  std::ranges::stable_sort(sorted, std::greater<>(), &std::pair<std::string, std::int64_t>::second);
  return sorted;
}

std::string values_text(std::string_view title, const std::vector<ValueInfo*>& values) {
  std::string text = fmt::format("{}\n", title);
  for (const ValueInfo* value : values) {
    text += fmt::format("  {}: {}{}\n", value->name, viewer::type_text(*value),
                        value->initial ? ", has a value where callers give none" : "");
  }
  return text;
}

void add_modules(const viewer::ModuleTree& module, int level, int depth, std::string& text) {
  if (level > depth) return;
  for (const viewer::ModuleTree& child : module.children) {
    const std::string label =
        std::string(static_cast<std::size_t>(level) * 2, ' ') + child.name +
        (child.type.empty() ? "" : " (" + child.type.substr(child.type.rfind('.') + 1) + ")");
    text += fmt::format("{:<48} {:>6} nodes {:>10}\n", label, child.node_count,
                        viewer::size_text(child.weight_bytes));
    add_modules(child, level + 1, depth, text);
  }
}

std::string joined(const std::vector<std::string>& items) {
  return "[" + fmt::format("{}", fmt::join(items, ", ")) + "]";
}

std::string dims_json(const ValueInfo& value) {
  if (!value.has_rank) return "null";
  std::vector<std::string> dims;
  for (const symbolic::Expr dim : value.shape) {
    const auto number = dim.known() ? dim.constant() : std::nullopt;
    dims.push_back(!dim.known() ? "null"
                   : number     ? std::to_string(*number)
                                : json_string(dim.str()));
  }
  return joined(dims);
}

std::string values_json(const std::vector<ValueInfo*>& values) {
  std::vector<std::string> items;
  for (const ValueInfo* value : values) {
    items.push_back(fmt::format(R"({{"name": {}, "dtype": {}, "shape": {}}})",
                                json_string(value->name),
                                json_string(base::dtype_name(value->dtype)), dims_json(*value)));
  }
  return joined(items);
}

std::string module_json(const viewer::ModuleTree& module) {
  std::vector<std::string> children;
  for (const viewer::ModuleTree& child : module.children) children.push_back(module_json(child));
  return fmt::format(
      R"({{"path": {}, "type": {}, "nodes": {}, "weight_bytes": {}, "modules": {}}})",
      json_string(module.path), json_string(module.type), module.node_count, module.weight_bytes,
      joined(children));
}

}  // namespace

std::vector<std::pair<std::string, std::int64_t>> operators_of(const Model& model) {
  std::map<std::string, std::int64_t> counts;
  count_operators(*model.graph, counts);
  std::vector<std::pair<std::string, std::int64_t>> sorted(counts.begin(), counts.end());
  std::ranges::stable_sort(sorted, std::greater<>(), &std::pair<std::string, std::int64_t>::second);
  return sorted;
}

std::string summary_text(const Model& model, int depth) {
  std::string text = fmt::format("{}{}{}, ONNX IR {}\n", model.producer_name,
                                 model.producer_version.empty() ? "" : " ", model.producer_version,
                                 model.ir_version);
  for (const auto& [domain, version] : model.opsets)
    text += fmt::format("opset {} of {}\n", version, domain.empty() ? "ONNX" : domain);
  text += values_text("inputs", model.graph->inputs);
  text += values_text("outputs", model.graph->outputs);
  const std::vector<std::string> dims = viewer::dynamic_dims(model);
  text += fmt::format("dynamic dims: {}\n",
                      dims.empty() ? "none" : fmt::format("{}", fmt::join(dims, ", ")));
  std::int64_t bytes = 0;
  for (const ValueInfo* weight : viewer::weights_of(model)) bytes += weight->constant->byte_count();
  text += fmt::format("weights and constants: {}, {}\n", viewer::weights_of(model).size(),
                      viewer::size_text(bytes));
  for (const auto& [type, size] : bytes_by_type(model))
    text += fmt::format("  {}: {}\n", type, viewer::size_text(size));
  text += fmt::format("nodes: {}\n", onnx::count_nodes(*model.graph));
  for (const auto& [name, count] : operators_of(model))
    text += fmt::format("  {:<40} {:>6}\n", name, count);
  for (const onnx::Function& function : model.functions)
    text += fmt::format("function {}::{}: {} nodes\n", function.domain, function.name,
                        function.body != nullptr ? count_nodes(*function.body) : 0);
  const viewer::ModuleTree modules = viewer::module_tree(*model.graph);
  if (!modules.children.empty()) text += "modules\n";
  add_modules(modules, 1, depth, text);
  return text;
}

std::string summary_json(const Model& model) {
  std::vector<std::string> opsets;
  for (const auto& [domain, version] : model.opsets)
    opsets.push_back(json_string(domain) + ": " + std::to_string(version));
  std::vector<std::string> dims;
  for (const std::string& name : viewer::dynamic_dims(model)) dims.push_back(json_string(name));
  std::vector<std::string> types;
  for (const auto& [type, size] : bytes_by_type(model))
    types.push_back(json_string(type) + ": " + std::to_string(size));
  std::vector<std::string> operators;
  for (const auto& [name, count] : operators_of(model))
    operators.push_back(fmt::format(R"({{"name": {}, "count": {}}})", json_string(name), count));
  std::vector<std::string> functions;
  for (const onnx::Function& function : model.functions)
    functions.push_back(json_string(function.domain + "::" + function.name));
  return fmt::format(
      R"("ir_version": {}, "producer": {}, "opsets": {{{}}}, "inputs": {}, "outputs": {}, )"
      R"("dynamic_dims": {}, "weights": {{"count": {}, "bytes": {{{}}}}}, "nodes": {}, )"
      R"("operators": {}, "functions": {}, "modules": {})",
      model.ir_version, json_string(model.producer_name), fmt::join(opsets, ", "),
      values_json(model.graph->inputs), values_json(model.graph->outputs), joined(dims),
      viewer::weights_of(model).size(), fmt::join(types, ", "), onnx::count_nodes(*model.graph),
      joined(operators), joined(functions), module_json(viewer::module_tree(*model.graph)));
}

}  // namespace sardonyx::cli
