// The modules that a model's nodes came from, as a tree.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "onnx/graph/ir.h"

namespace sardonyx::viewer {

struct ModuleTree {
  std::string name;                             // the last part of the path; empty at the root
  std::string path;                             // "encoder.layers.0"
  std::string type;                             // its class, where the model says it
  std::list<ModuleTree> children;               // in the order of their first nodes
  std::vector<const onnx::Node*> nodes;         // its own, those of its bodies not among them
  std::vector<const onnx::ValueInfo*> weights;  // read here first
  // Of the module and those in it; bodies count.
  std::int64_t node_count = 0;
  std::int64_t weight_bytes = 0;
};

// Of the main graph, or of a function's body. Where a node came from is read in what exporters
// write into metadata, and else in names that are paths ("/encoder/layer.0/MatMul").
ModuleTree module_tree(const onnx::Graph& graph);

}  // namespace sardonyx::viewer
