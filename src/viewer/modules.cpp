#include "viewer/modules.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "onnx/graph/count_nodes.h"

namespace sardonyx::viewer {
namespace {

using onnx::Graph;
using onnx::Node;
using onnx::ValueInfo;

struct Place {
  std::vector<std::string> scopes;   // module paths, outermost first
  std::vector<std::string> classes;  // as many, or none
};

// The texts of a Python list of quoted texts; what is no such list gives those up to there.
std::vector<std::string> quoted_texts(std::string_view list) {
  std::vector<std::string> texts;
  for (std::size_t at = 0; at < list.size(); ++at) {
    const char quote = list[at];
    if (quote != '\'' && quote != '"') continue;
    std::string text;
    for (++at; at < list.size() && list[at] != quote; ++at) {
      if (list[at] == '\\' && at + 1 < list.size()) ++at;
      text += list[at];
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

std::string_view metadata_of(const Node& node, std::string_view key) {
  for (const auto& [name, value] : node.metadata)
    if (name == key) return value;
  return {};
}

// "/encoder/layer.0/attention/MatMul": each part is a module but the last.
std::vector<std::string> scopes_of_name(std::string_view name) {
  std::vector<std::string> scopes;
  if (!name.starts_with('/')) return scopes;
  std::string path;
  for (name.remove_prefix(1); name.find('/') != std::string_view::npos;) {
    const std::size_t end = name.find('/');
    path += (path.empty() ? "" : ".") + std::string(name.substr(0, end));
    scopes.push_back(path);
    name.remove_prefix(end + 1);
  }
  return scopes;
}

Place place_of(const Node& node) {
  if (node.origin != nullptr) return {node.origin->scopes, node.origin->classes};
  Place place{quoted_texts(metadata_of(node, "pkg.torch.onnx.name_scopes")),
              quoted_texts(metadata_of(node, "pkg.torch.onnx.class_hierarchy"))};
  // The last of each is the operator.
  if (!place.scopes.empty()) place.scopes.pop_back();
  if (!place.classes.empty()) place.classes.pop_back();
  if (place.scopes.empty()) return {scopes_of_name(node.name), {}};
  return place;
}

// Deeper ones are no modules that somebody wrote.
constexpr std::size_t kDeepest = 100;

class Builder {
 public:
  ModuleTree build(const Graph& graph) {
    for (const Node* node = graph.first; node != nullptr; node = node->next) add(*node);
    total(root_);
    return std::move(root_);
  }

 private:
  void add(const Node& node) {
    const Place place = place_of(node);
    ModuleTree* module = &root_;
    for (std::size_t i = 0; i < std::min(place.scopes.size(), kDeepest); ++i) {
      if (place.scopes[i].empty()) continue;  // the model itself
      module = &child_of(*module, place.scopes[i],
                         i < place.classes.size() ? place.classes[i] : std::string());
    }
    module->nodes.push_back(&node);
    add_weights(node, *module);
  }

  ModuleTree& child_of(ModuleTree& module, const std::string& path, const std::string& type) {
    ModuleTree*& child = children_[{&module, path}];
    if (child != nullptr) return *child;
    child = &module.children.emplace_back();
    const bool is_inside = !module.path.empty() && path.starts_with(module.path + ".");
    child->name = is_inside ? path.substr(module.path.size() + 1) : path;
    child->path = path;
    child->type = type;
    return *child;
  }

  void add_weights(const Node& node, ModuleTree& module) {
    for (const ValueInfo* input : node.inputs)
      if (input != nullptr && input->constant != nullptr && seen_.insert(input).second)
        module.weights.push_back(input);
    for (const Graph* body : onnx::bodies(&node))
      for (const Node* inner = body->first; inner != nullptr; inner = inner->next)
        add_weights(*inner, module);
  }

  static void total(ModuleTree& module) {
    for (const Node* node : module.nodes) {
      ++module.node_count;
      for (const Graph* body : onnx::bodies(node)) module.node_count += onnx::count_nodes(*body);
    }
    for (const ValueInfo* weight : module.weights)
      module.weight_bytes += weight->constant->byte_count();
    for (ModuleTree& child : module.children) {
      total(child);
      module.node_count += child.node_count;
      module.weight_bytes += child.weight_bytes;
    }
  }

  ModuleTree root_;
  std::map<std::pair<const ModuleTree*, std::string>, ModuleTree*> children_;
  std::unordered_set<const ValueInfo*> seen_;
};

}  // namespace

ModuleTree module_tree(const Graph& graph) { return Builder().build(graph); }

}  // namespace sardonyx::viewer
