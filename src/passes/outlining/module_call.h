// A run of nodes that one call of a module became: what goes in, what comes out, and its structure.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "onnx/graph/ir.h"

namespace sardonyx::passes {

struct ModuleCall {
  // The nodes first to last of a graph, both included, as one call of the module at `path`.
  ModuleCall(onnx::Node* first, onnx::Node* last, std::string path);

  std::string path;
  std::vector<onnx::Node*> nodes;                // of the run itself, without bodies
  std::vector<onnx::ValueInfo*> inputs;          // made outside; weights and large constants last
  std::size_t weights = 0;                       // how many of the inputs are weights
  std::vector<onnx::ValueInfo*> outputs;         // read outside
  std::vector<onnx::ValueInfo*> values;          // made inside, in order
  std::unordered_set<const onnx::Node*> inside;  // with the nodes of bodies

  // The same for two calls exactly when one function can stand for both: operators, attributes,
  // wiring, element types, the constants of the code and which inputs are weights.
  std::string structure() const;
  // "weight" of "layers.0.fc.weight" in the call of layers.0.fc.
  std::string input_name(const onnx::ValueInfo* input) const;

 private:
  void add(onnx::Node* node);
  void read(onnx::ValueInfo* value);
  void find_outputs();

  std::unordered_set<const onnx::ValueInfo*> made_;
  std::unordered_set<const onnx::ValueInfo*> read_;
  std::unordered_set<const onnx::Graph*> bodies_;  // inside
  std::vector<onnx::ValueInfo*> found_weights_;
};

// A constant of the code, which a function holds itself. Weights and what they were folded into are
// passed to it.
bool is_literal(const onnx::ValueInfo* value);

}  // namespace sardonyx::passes
