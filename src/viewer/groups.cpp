#include "viewer/groups.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "onnx/graph/count_nodes.h"
#include "viewer/modules.h"

namespace sardonyx::viewer {
namespace {

using onnx::Graph;
using onnx::Model;
using onnx::Node;
using onnx::ValueInfo;
using Index = std::int32_t;

std::size_t at(Index index) { return static_cast<std::size_t>(index); }
Index size_of(const auto& items) { return static_cast<Index>(items.size()); }

// Bodies within bodies that go deeper are counted and not shown.
constexpr int kDeepestBody = 32;

struct NamedLink {
  Item from, to;
  Index value;
  friend auto operator<=>(const NamedLink&, const NamedLink&) = default;
};

// An item, and the groups that it is in, outermost first.
struct Place {
  std::span<const Index> groups;
  Item item;
};

struct ItemHash {
  std::size_t operator()(const Item& item) const {
    return std::hash<std::uint64_t>()(static_cast<std::uint64_t>(item.kind) << 32 |
                                      static_cast<std::uint32_t>(item.index));
  }
};

class Builder {
 public:
  explicit Builder(const Model& model) {
    add_root(GroupKind::kGraph, "model", *model.graph);
    for (const onnx::Function& function : model.functions)
      if (function.body != nullptr)
        add_root(GroupKind::kFunction, function.domain + "::" + function.name, *function.body);
    links_.resize(all_.groups.size());
    for (const Group& group : all_.groups) {  // parents come first
      std::vector<Index> chain;
      if (group.parent >= 0) chain = chains_[at(group.parent)];
      chain.push_back(size_of(chains_));
      chains_.push_back(std::move(chain));
    }
    for (const auto& [graph, group] : graphs_) connect(*graph, group);
    add_items();
  }

  Groups take() { return std::move(all_); }

 private:
  // --- groups and nodes

  void add_root(GroupKind kind, std::string name, const Graph& graph) {
    const Index group = add_group(kind, -1, std::move(name));
    add_graph(graph, group, "", 0);
  }

  Index add_group(GroupKind kind, Index parent, std::string name) {
    Group group;
    group.kind = kind;
    group.parent = parent;
    group.name = std::move(name);
    if (parent >= 0) group.path = all_.groups[at(parent)].path;
    all_.groups.push_back(std::move(group));
    return size_of(all_.groups) - 1;
  }

  void add_graph(const Graph& graph, Index group, std::string_view around, int depth) {
    graphs_.emplace_back(&graph, group);
    group_of_graph_[&graph] = group;
    const ModuleTree whole = module_tree(graph);
    // The modules that the bodies' owner is in are around it already.
    const ModuleTree* tree = &whole;
    while (!around.empty() && tree->nodes.empty() && tree->children.size() == 1 &&
           is_around(tree->children.front().path, around))
      tree = &tree->children.front();
    std::unordered_map<const Node*, Index> module_of;
    fill(group, *tree, module_of);
    for (const Node* node = graph.first; node != nullptr; node = node->next)
      add_node(*node, module_of.at(node), depth);
  }

  static bool is_around(std::string_view path, std::string_view inner) {
    return inner == path || (inner.starts_with(path) && inner[path.size()] == '.');
  }

  void fill(Index group, const ModuleTree& tree,
            std::unordered_map<const Node*, Index>& module_of) {
    Group& filled = all_.groups[at(group)];
    filled.node_count = tree.node_count;
    filled.weight_bytes = tree.weight_bytes;
    filled.weights = tree.weights;
    for (const Node* node : tree.nodes) module_of[node] = group;
    for (const ModuleTree& child : tree.children) {
      const Index made = add_group(GroupKind::kModule, group, child.name);
      all_.groups[at(made)].path = child.path;
      all_.groups[at(made)].type = child.type;
      fill(made, child, module_of);
    }
  }

  void add_node(const Node& node, Index group, int depth) {
    const Index index = size_of(all_.nodes);
    all_.nodes.push_back(&node);
    all_.group_of.push_back(group);
    index_of_[&node] = index;
    for (Index around = group; around >= 0 && all_.groups[at(around)].first < 0;
         around = all_.groups[at(around)].parent)
      all_.groups[at(around)].first = index;
    const std::vector<Graph*> bodies = onnx::bodies(&node);
    if (bodies.empty() || depth >= kDeepestBody) return;
    const Index owner = add_group(GroupKind::kNode, group, node.name);
    Group& made = all_.groups[at(owner)];
    made.node = made.first = index;
    made.type = node.op_type;
    made.node_count = 1;
    for (const Graph* body : bodies) made.node_count += onnx::count_nodes(*body);
    expands_[&node] = owner;
    for (const onnx::Attribute& attribute : node.attributes)
      for (const Graph* body : bodies)
        if (holds(attribute, body)) add_body(attribute.name, *body, owner, index, depth);
  }

  static bool holds(const onnx::Attribute& attribute, const Graph* body) {
    if (const auto* one = std::get_if<Graph*>(&attribute.data)) return *one == body;
    const auto* several = std::get_if<std::vector<Graph*>>(&attribute.data);
    return several != nullptr && std::ranges::find(*several, body) != several->end();
  }

  void add_body(const std::string& name, const Graph& body, Index owner, Index node, int depth) {
    const Index group = add_group(GroupKind::kBody, owner, name);
    all_.groups[at(group)].first = node;
    const std::string around = all_.groups[at(owner)].path;
    add_graph(body, group, around, depth + 1);
  }

  // --- what leads where

  Index value(const ValueInfo* info) {
    const auto [place, made] = all_.value_index.try_emplace(info, size_of(all_.values));
    if (made) all_.values.push_back(info);
    return place->second;
  }

  std::span<const Index> groups_around(Index group) const {
    return group < 0 ? std::span<const Index>() : std::span<const Index>(chains_[at(group)]);
  }

  Place place_of_producer(const ValueInfo& info, Index index) const {
    if (info.producer == nullptr) {
      return {groups_around(group_of_graph(info.graph)), {ItemKind::kIn, index}};
    }
    const auto owner = expands_.find(info.producer);
    if (owner != expands_.end()) return {groups_around(owner->second), {ItemKind::kOut, index}};
    const auto found = index_of_.find(info.producer);
    if (found == index_of_.end()) return {};  // in bodies that are not shown
    const Index node = found->second;
    return {groups_around(all_.group_of[at(node)]), {ItemKind::kNode, node}};
  }

  Index group_of_graph(const Graph* graph) const {
    const auto found = group_of_graph_.find(graph);
    return found == group_of_graph_.end() ? -1 : found->second;
  }

  // From the item of one group to that of another, through the edges of groups between them.
  void link(const Place& from, const Place& to, Index value) {
    std::size_t common = 0;
    while (common < from.groups.size() && common < to.groups.size() &&
           from.groups[common] == to.groups[common])
      ++common;
    if (common == 0) return;  // what the file says is not so
    const auto item = [&](const Place& place, std::size_t level) {
      return level + 1 < place.groups.size() ? Item{ItemKind::kGroup, place.groups[level + 1]}
                                             : place.item;
    };
    add(from.groups[common - 1], item(from, common - 1), item(to, common - 1), value);
    for (std::size_t level = common; level < from.groups.size(); ++level)
      add(from.groups[level], item(from, level), {ItemKind::kOut, value}, value);
    for (std::size_t level = common; level < to.groups.size(); ++level)
      add(to.groups[level], {ItemKind::kIn, value}, item(to, level), value);
  }

  void add(Index group, Item from, Item to, Index value) {
    if (from != to) links_[at(group)].push_back({from, to, value});
  }

  void connect(const Graph& graph, Index group) {
    for (const Node* node = graph.first; node != nullptr; node = node->next) {
      for (const ValueInfo* input : node->inputs) connect_input(*node, input);
      for (const ValueInfo* output : node->outputs)
        if (output != nullptr) value(output);
    }
    // Also those that nothing reads.
    for (const ValueInfo* input : graph.inputs)
      loose_[group].push_back({ItemKind::kIn, value(input)});
    for (const ValueInfo* output : graph.outputs) {
      const Index index = value(output);
      if (output->constant == nullptr)
        link(place_of_producer(*output, index), {groups_around(group), {ItemKind::kOut, index}},
             index);
    }
    const Group& here = all_.groups[at(group)];
    if (here.kind == GroupKind::kBody) connect_results(graph, group, here.parent);
  }

  void connect_input(const Node& node, const ValueInfo* input) {
    if (input == nullptr) return;
    const Index index = value(input);
    if (input->constant != nullptr) return;
    const auto owner = expands_.find(&node);
    const Place from = place_of_producer(*input, index);
    if (owner == expands_.end()) {
      const Index reader = index_of_.at(&node);
      link(from, {groups_around(all_.group_of[at(reader)]), {ItemKind::kNode, reader}}, index);
      return;
    }
    // Into the node, and from there to each body.
    link(from, {groups_around(owner->second), {ItemKind::kIn, index}}, index);
    for (Index body = owner->second + 1; body < size_of(all_.groups); ++body)
      if (all_.groups[at(body)].parent == owner->second)
        add(owner->second, {ItemKind::kIn, index}, {ItemKind::kGroup, body}, index);
      else if (all_.groups[at(body)].parent < owner->second)
        break;
  }

  // What a body gives is what its node gives; a Loop's first result says whether to go on.
  void connect_results(const Graph& body, Index group, Index owner) {
    const Node& node = *all_.nodes[at(all_.groups[at(owner)].node)];
    const std::size_t skipped = node.op_type == "Loop" ? 1 : 0;
    for (std::size_t i = 0; i < node.outputs.size() && i + skipped < body.outputs.size(); ++i) {
      if (node.outputs[i] == nullptr) continue;
      const Index result = value(node.outputs[i]);
      add(owner, {ItemKind::kGroup, group}, {ItemKind::kOut, result}, result);
    }
  }

  // --- items, in order

  void add_items() {
    std::vector<std::vector<std::pair<Index, Item>>> members(all_.groups.size());
    for (Index node = 0; node < size_of(all_.nodes); ++node)
      if (!expands_.contains(all_.nodes[at(node)]))
        members[at(all_.group_of[at(node)])].push_back({node, {ItemKind::kNode, node}});
    for (Index group = 0; group < size_of(all_.groups); ++group)
      if (const Group& each = all_.groups[at(group)]; each.parent >= 0)
        members[at(each.parent)].push_back({each.first, {ItemKind::kGroup, group}});
    for (Index group = 0; group < size_of(all_.groups); ++group)
      number(group, members[at(group)], links_[at(group)]);
  }

  void number(Index group, std::vector<std::pair<Index, Item>>& members,
              std::vector<NamedLink>& links) {
    std::vector<Item> in = loose_[group], out;
    for (const NamedLink& link : links) {
      if (link.from.kind == ItemKind::kIn) in.push_back(link.from);
      if (link.to.kind == ItemKind::kOut) out.push_back(link.to);
    }
    std::vector<Item>& items = all_.groups[at(group)].items;
    std::unordered_map<Item, Index, ItemHash> numbers;
    const auto take = [&](Item item) {
      if (numbers.try_emplace(item, size_of(items)).second) items.push_back(item);
    };
    for (const Item item : in) take(item);
    std::ranges::stable_sort(members, {}, &std::pair<Index, Item>::first);
    for (const auto& [_, item] : members) take(item);
    for (const Item item : out) take(item);
    std::ranges::sort(links);
    const auto repeated = std::ranges::unique(links);
    links.erase(repeated.begin(), repeated.end());
    for (const NamedLink& link : links)
      all_.groups[at(group)].links.push_back(
          {numbers.at(link.from), numbers.at(link.to), link.value});
    std::ranges::sort(all_.groups[at(group)].links, {},
                      [](const Link& link) { return std::tuple(link.from, link.to, link.value); });
  }

  Groups all_;
  std::unordered_map<const Node*, Index> index_of_;
  std::unordered_map<const Node*, Index> expands_;  // nodes with bodies
  std::vector<std::pair<const Graph*, Index>> graphs_;
  std::unordered_map<const Graph*, Index> group_of_graph_;
  std::vector<std::vector<Index>> chains_;  // the groups around each, itself last
  std::vector<std::vector<NamedLink>> links_;
  std::map<Index, std::vector<Item>> loose_;
};

}  // namespace

Groups groups_of(const Model& model) { return Builder(model).take(); }

std::vector<Rank> ranks_of(const Group& group) {
  // What enters and leaves the whole stands next to what reads and makes it.
  const bool is_whole = group.parent < 0;
  std::vector<Rank> ranks;
  for (const Item& item : group.items) {
    ranks.push_back(is_whole                      ? Rank::kFree
                    : item.kind == ItemKind::kIn  ? Rank::kTop
                    : item.kind == ItemKind::kOut ? Rank::kBottom
                                                  : Rank::kFree);
  }
  return ranks;
}

}  // namespace sardonyx::viewer
