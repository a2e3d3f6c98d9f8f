// GraphProto and FunctionProto to the graph IR.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "onnx/graph/ir.h"
#include "proto/reader/tensor_reader.h"

namespace sardonyx::proto {

// The messages must outlive the reader.
class GraphReader {
 public:
  GraphReader(onnx::Model& model, DataSource& source) : model_(model), source_(source) {}

  // Fills the model's graph. It must come first: its names are kept.
  void main_graph(std::string_view message);
  onnx::Function function(std::string_view message);

 private:
  using Messages = std::vector<std::string_view>;
  struct Parts;
  using Names = std::unordered_map<std::string_view, onnx::ValueInfo*>;

  onnx::Graph* body(std::string_view message, onnx::Graph* parent);
  void read_into(onnx::Graph* graph, std::string_view message);
  void fill(onnx::Graph* graph, const Parts& parts);
  void declare(onnx::Graph* graph, const Parts& parts);
  void declare_initializer(onnx::Graph* graph, std::string_view message, bool overridable);
  void declare_sparse(onnx::Graph* graph, std::string_view message);
  onnx::ValueInfo* declare_value(const onnx::Graph* graph, std::string_view name);
  void annotate(onnx::Graph* graph, const Messages& messages);
  bool hold(onnx::Node* node, const onnx::Graph* graph, const Messages& names);
  void declare_name(std::string_view name, onnx::ValueInfo* value);
  void describe(std::string_view message);

  void node(onnx::Graph* graph, std::string_view message);
  void connect(onnx::Node* node, const Messages& inputs, const Messages& outputs);
  onnx::Attribute attribute(onnx::Graph* graph, std::string_view message);
  onnx::ValueInfo* find(std::string_view name) const;
  onnx::ValueInfo* find_defined(std::string_view name) const;
  void define(const onnx::ValueInfo* value);

  onnx::Model& model_;
  DataSource& source_;
  std::vector<Names> scopes_;  // innermost last
  std::vector<bool> defined_;  // by id: inputs, initializers and outputs of nodes that were read
  // Names in the main graph of what stands in bodies: constants.
  std::unordered_set<std::string> hoisted_;
  // Outputs of the graphs at hand, by name, the innermost last: nodes make them.
  std::vector<std::unordered_set<std::string_view>> outputs_;
  bool in_function_ = false;
  Messages function_outputs_;
};

// Entries of metadata_props.
std::pair<std::string, std::string> read_entry(std::string_view message);
// Adds an OperatorSetIdProto.
void read_opset(std::string_view message, std::map<std::string, std::int64_t>& opsets);

}  // namespace sardonyx::proto
