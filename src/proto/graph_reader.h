// GraphProto and FunctionProto to the graph IR.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "onnx/graph/ir.h"
#include "proto/tensor_reader.h"

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
  void declare_initializer(std::string_view message);
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
};

// Entries of metadata_props.
std::pair<std::string, std::string> read_entry(std::string_view message);
// Adds an OperatorSetIdProto.
void read_opset(std::string_view message, std::map<std::string, std::int64_t>& opsets);

}  // namespace sardonyx::proto
