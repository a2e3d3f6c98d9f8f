#include "cli/model_diff.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "cli/model_summary.h"
#include "onnx/graph/count_nodes.h"
#include "sardonyx/report.h"
#include "viewer/alignment.h"
#include "viewer/attribute_text.h"
#include "viewer/model_texts.h"

namespace sardonyx::cli {
namespace {

using onnx::Graph;
using onnx::Model;
using onnx::Node;
using onnx::Tensor;
using onnx::ValueInfo;

using Texts = std::vector<std::pair<std::string, std::string>>;

// By name, in the order of `a`, then what only `b` has.
std::vector<Difference> differences(const Texts& a, const Texts& b) {
  const std::map<std::string, std::string> of_a(a.begin(), a.end());
  const std::map<std::string, std::string> of_b(b.begin(), b.end());
  std::vector<Difference> found;
  for (const auto& [name, text] : a) {
    const auto other = of_b.find(name);
    if (other == of_b.end()) {
      found.push_back({name, text, ""});
    } else if (other->second != text) {
      found.push_back({name, text, other->second});
    }
  }
  for (const auto& [name, text] : b)
    if (!of_a.contains(name)) found.push_back({name, "", text});
  return found;
}

Texts opsets(const Model& model) {
  Texts texts;
  for (const auto& [domain, version] : model.opsets)
    texts.emplace_back(domain.empty() ? "ONNX" : domain, std::to_string(version));
  return texts;
}

Texts operators(const Model& model) {
  Texts texts;
  for (const auto& [name, count] : operators_of(model))
    texts.emplace_back(name, std::to_string(count));
  return texts;
}

template <class Values>
Texts types(const Values& values) {
  Texts texts;
  for (const ValueInfo* value : values) texts.emplace_back(value->name, viewer::type_text(*value));
  return texts;
}

Texts weights(const Model& model) {
  Texts texts;
  for (const ValueInfo* value : viewer::weights_of(model)) {
    const Tensor& tensor = *value->constant;
    texts.emplace_back(value->name, fmt::format("{}[{}]", base::dtype_name(tensor.dtype),
                                                fmt::join(tensor.dims, ", ")));
  }
  return texts;
}

// Weights of one name and type whose elements are others.
void add_other_data(const Model& a, const Model& b, std::vector<Difference>& found) {
  std::map<std::string_view, const Tensor*> of_b;
  for (const ValueInfo* value : viewer::weights_of(b))
    of_b.emplace(value->name, value->constant.get());
  for (const ValueInfo* value : viewer::weights_of(a)) {
    const auto other = of_b.find(value->name);
    if (other == of_b.end()) continue;
    const Tensor& tensor = *value->constant;
    if (tensor.dtype == other->second->dtype && tensor.dims == other->second->dims &&
        !viewer::same_data(tensor, *other->second))
      found.push_back({value->name, "data", "other data"});
  }
}

Texts attributes(const Node& node) {
  Texts texts = {{"operator", viewer::operator_name(node)}};
  for (const onnx::Attribute& attribute : node.attributes)
    texts.emplace_back(attribute.name, viewer::attribute_text(attribute));
  return texts;
}

void compare_nodes(const Graph& a, const Graph& b, ModelDiff& diff) {
  std::map<std::string_view, const Node*> of_b;
  for (const Node* node = b.first; node != nullptr; node = node->next)
    if (!node->name.empty()) of_b.emplace(node->name, node);
  for (const Node* node = a.first; node != nullptr; node = node->next) {
    const auto other = of_b.find(node->name);
    if (other == of_b.end()) continue;
    ++diff.same_name;
    for (Difference& each : differences(attributes(*node), attributes(*other->second)))
      diff.attributes.push_back({node->name + "." + each.name, each.a, each.b});
  }
}

using Section = std::pair<std::string_view, const std::vector<Difference>*>;

std::array<Section, 6> sections(const ModelDiff& diff) {
  return {{{"opsets", &diff.opsets},
           {"operators", &diff.operators},
           {"inputs", &diff.inputs},
           {"outputs", &diff.outputs},
           {"weights", &diff.weights},
           {"attributes", &diff.attributes}}};
}

}  // namespace

bool ModelDiff::empty() const {
  for (const auto& [title, found] : sections(*this))
    if (!found->empty()) return false;
  return nodes_a == nodes_b;
}

ModelDiff diff(const Model& a, const Model& b) {
  ModelDiff result;
  result.nodes_a = onnx::count_nodes(*a.graph);
  result.nodes_b = onnx::count_nodes(*b.graph);
  result.opsets = differences(opsets(a), opsets(b));
  result.operators = differences(operators(a), operators(b));
  result.inputs = differences(types(a.graph->inputs), types(b.graph->inputs));
  result.outputs = differences(types(a.graph->outputs), types(b.graph->outputs));
  result.weights = differences(weights(a), weights(b));
  add_other_data(a, b, result.weights);
  compare_nodes(*a.graph, *b.graph, result);
  return result;
}

std::string diff_text(const ModelDiff& diff) {
  if (diff.empty()) return "no differences\n";
  std::string text =
      fmt::format("nodes: {} -> {}, {} of one name\n", diff.nodes_a, diff.nodes_b, diff.same_name);
  for (const auto& [title, found] : sections(diff)) {
    if (found->empty()) continue;
    text += fmt::format("{}\n", title);
    for (const Difference& each : *found)
      text += fmt::format("  {}: {} -> {}\n", each.name, each.a.empty() ? "none" : each.a,
                          each.b.empty() ? "none" : each.b);
  }
  return text;
}

std::string diff_json(const ModelDiff& diff) {
  std::string json = fmt::format(R"("same": {}, "nodes": [{}, {}], "nodes_of_one_name": {})",
                                 diff.empty(), diff.nodes_a, diff.nodes_b, diff.same_name);
  for (const auto& [title, found] : sections(diff)) {
    std::vector<std::string> items;
    for (const Difference& each : *found)
      items.push_back(fmt::format(R"({{"name": {}, "a": {}, "b": {}}})", json_string(each.name),
                                  each.a.empty() ? "null" : json_string(each.a),
                                  each.b.empty() ? "null" : json_string(each.b)));
    json += fmt::format(R"(, "{}": [{}])", title, fmt::join(items, ", "));
  }
  return json;
}

}  // namespace sardonyx::cli
