// A model as the viewer shows it: nodes in nested groups, and what leads from one to another in
// each group.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "onnx/graph/ir.h"
#include "viewer/layered.h"

namespace sardonyx::viewer {

enum class GroupKind : std::uint8_t {
  kGraph,     // the main graph
  kFunction,  // the body of a model-local function
  kModule,
  kNode,  // a node with bodies, which are the groups in it
  kBody,  // of an If, Loop or Scan
};

enum class ItemKind : std::uint8_t { kNode, kGroup, kIn, kOut };

// What stands in a group: a node, a group, or a value where it enters or leaves the group. `index`
// counts nodes, groups or values.
struct Item {
  ItemKind kind;
  std::int32_t index;
  friend auto operator<=>(const Item&, const Item&) = default;
};

struct Group {
  GroupKind kind = GroupKind::kModule;
  std::string name, path, type;
  std::int32_t parent = -1;
  std::int32_t node = -1;   // that has the bodies, for kNode
  std::int32_t first = -1;  // the first node in it
  std::int64_t node_count = 0;
  std::int64_t weight_bytes = 0;
  std::vector<const onnx::ValueInfo*> weights;  // read here first
  // In the order of execution; links are between their indices.
  std::vector<Item> items;
  std::vector<Link> links;
};

struct Groups {
  std::vector<Group> groups;  // parents first; what has none is a page of its own
  std::vector<const onnx::Node*> nodes;
  std::vector<std::int32_t> group_of;  // of each node
  std::vector<const onnx::ValueInfo*> values;
  std::unordered_map<const onnx::ValueInfo*, std::int32_t> value_index;
};

// Nodes and values of the main graph, its bodies, and the functions. Constants are values that no
// link has.
Groups groups_of(const onnx::Model& model);

// Which of a group's items stand at its edges.
std::vector<Rank> ranks_of(const Group& group);

}  // namespace sardonyx::viewer
