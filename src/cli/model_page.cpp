#include "cli/model_page.h"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cli/attribute_text.h"
#include "cli/model_summary.h"
#include "cli/modules.h"
#include "cli/page_parts.h"
#include "onnx/graph/count_nodes.h"
#include "sardonyx/report.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx::cli {
namespace {

using onnx::Graph;
using onnx::Model;
using onnx::Node;
using onnx::ValueInfo;

// The model as the page's script reads it: modules, nodes and values refer to each other by index.
class PageData {
 public:
  explicit PageData(const Model& model) {
    tree_ = module_tree(*model.graph);
    module(tree_, -1);
    for (const Node* node = model.graph->first; node != nullptr; node = node->next) add(*node);
    for (const ValueInfo* output : model.graph->outputs) outputs_.push_back(value(output));
  }

  std::string json() const {
    return fmt::format(R"({{"modules": [{}], "nodes": [{}], "values": [{}], "outputs": [{}]}})",
                       fmt::join(modules_, ",\n"), fmt::join(nodes_, ",\n"),
                       fmt::join(values_, ",\n"), fmt::join(outputs_, ","));
  }

 private:
  void module(const ModuleTree& module, std::int64_t parent) {
    const auto index = static_cast<std::int64_t>(modules_.size());
    for (const Node* node : module.nodes) module_of_[node] = index;
    std::vector<std::int64_t> weights;
    for (const ValueInfo* weight : module.weights) weights.push_back(value(weight));
    modules_.push_back(fmt::format(
        R"({{"name": {}, "path": {}, "type": {}, "parent": {}, "nodes": {}, "bytes": {}, "weights": [{}]}})",
        json_string(module.name), json_string(module.path), json_string(module.type), parent,
        module.node_count, module.weight_bytes, fmt::join(weights, ",")));
    for (const ModuleTree& child : module.children) this->module(child, index);
  }

  void add(const Node& node) {
    std::vector<std::string> attributes;
    for (const onnx::Attribute& attribute : node.attributes)
      attributes.push_back(attribute.name + "=" + attribute_text(attribute));
    // What its bodies read of the graph around them is an input, too.
    std::vector<std::int64_t> inputs = values(node.inputs);
    for (const Graph* body : onnx::bodies(&node)) add_reads(*body, *node.graph, inputs);
    nodes_.push_back(fmt::format(
        R"({{"op": {}, "name": {}, "module": {}, "attributes": {}, "inputs": [{}], "outputs": [{}]}})",
        json_string(operator_name(node)), json_string(node.name), module_of_.at(&node),
        json_string(fmt::format("{}", fmt::join(attributes, ", "))), fmt::join(inputs, ","),
        fmt::join(values(node.outputs), ",")));
  }

  void add_reads(const Graph& body, const Graph& around, std::vector<std::int64_t>& inputs) {
    for (const Node* node = body.first; node != nullptr; node = node->next) {
      for (const ValueInfo* input : node->inputs)
        if (input != nullptr && input->graph == &around) inputs.push_back(value(input));
      for (const Graph* inner : onnx::bodies(node)) add_reads(*inner, around, inputs);
    }
  }

  std::vector<std::int64_t> values(const std::vector<ValueInfo*>& all) {
    std::vector<std::int64_t> indices;
    for (const ValueInfo* each : all) indices.push_back(each != nullptr ? value(each) : -1);
    return indices;
  }

  std::int64_t value(const ValueInfo* info) {
    const auto [place, made] =
        index_of_.try_emplace(info, static_cast<std::int64_t>(values_.size()));
    if (made) {
      const bool constant = info->constant != nullptr;
      values_.push_back(fmt::format(R"({{"name": {}, "type": {}, "constant": {}, "bytes": {}}})",
                                    json_string(info->name), json_string(type_text(*info)),
                                    constant, constant ? info->constant->byte_count() : 0));
    }
    return place->second;
  }

  ModuleTree tree_;
  std::vector<std::string> modules_, nodes_, values_;
  std::vector<std::int64_t> outputs_;
  std::unordered_map<const Node*, std::int64_t> module_of_;
  std::unordered_map<const ValueInfo*, std::int64_t> index_of_;
};

std::string replaced(std::string_view text, char what, std::string_view by) {
  std::string result;
  for (const char c : text) c == what ? result += by : result += c;
  return result;
}

std::string escaped(std::string_view text) {
  return replaced(replaced(text, '&', "&amp;"), '<', "&lt;");
}

std::string line_about(const Model& model) {
  std::int64_t bytes = 0;
  for (const ValueInfo* weight : weights_of(model)) bytes += weight->constant->byte_count();
  const std::vector<std::string> dims = dynamic_dims(model);
  const auto opset = model.opsets.find("");
  return fmt::format(
      "{} nodes, {} of weights, opset {}; {}", onnx::count_nodes(*model.graph), size_text(bytes),
      opset == model.opsets.end() ? 0 : opset->second,
      dims.empty() ? "all sizes are fixed" : fmt::format("dynamic: {}", fmt::join(dims, ", ")));
}

}  // namespace

std::string model_page(const Model& model, const std::string& title) {
  // No text of the model can end the script that holds it.
  const std::string data = replaced(PageData(model).json(), '<', "\\u003c");
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>{0}</title>\n"
      "<style>{2}</style>\n<header><h1>{0}</h1><p>{1}</p></header>\n<nav></nav>\n"
      "<main><div id=\"bar\"><button id=\"up\">up</button><b id=\"path\"></b>"
      "<button id=\"fit\">fit</button><button id=\"out\">-</button><button id=\"in\">+</button>"
      "</div><div id=\"drawing\"></div><div id=\"more\"></div></main>\n"
      "<script type=\"application/json\" "
      "id=\"model\">{3}</script>\n<script>{4}</script>\n</html>\n",
      escaped(title), escaped(line_about(model)), kPageStyle, data, kPageScript);
}

}  // namespace sardonyx::cli
