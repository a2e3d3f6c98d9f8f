// Graphs of a saved program: from the JSON of models/model.json to bound calls.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "frontends/pt2/json.h"
#include "frontends/pt2/metadata.h"
#include "program/ir/program.h"
#include "program/ir/unread_outputs.h"

namespace sardonyx::pt2 {

class GraphReader {
 public:
  explicit GraphReader(program::Program& program) : program_(program), metadata_(program) {}

  // The main graph; its values stay known by name for the signature.
  program::Graph* read_main(JsonObject graph);

  // An argument of the signature: a value of the main graph by name, or a constant.
  program::Argument main_argument(Json json);
  // A value of the main graph; SX1206 when there is none of that name.
  program::Value* main_value(std::string_view name);

 private:
  // The values of one graph: bodies of control flow have names of their own.
  using Scope = std::unordered_map<std::string_view, program::Value*>;

  // How a call target is bound, looked up once for each target.
  struct Target {
    std::string name;
    const program::Schema* schema = nullptr;
    bool is_operator = false;  // neither an operation on sizes nor a higher-order one
  };

  program::Graph* read(JsonObject graph, std::string name, Scope& scope);
  void add_values(JsonObject graph, Scope& scope);
  program::Value* add_value(std::string_view name, program::ValueKind kind, Scope& scope);
  void read_inputs(JsonArray inputs, program::Graph& graph, Scope& scope);
  void read_nodes(JsonArray nodes, program::Graph& graph, Scope& scope);

  struct Node;  // the fields of a node
  program::Call* read_node(JsonObject node, Scope& scope);
  void bind(const Node& node, program::Call& call, Scope& scope);
  const Target& target(std::string_view text);

  void read_outputs(const Node& node, program::Call& call, Scope& scope);
  void read_output(Json output, bool is_element, program::Call& call, Scope& scope);
  void add_output(std::string_view name, bool is_element, program::Call& call, Scope& scope);

  // --- arguments (arguments.cpp)
  program::Argument argument(Json json, Scope& scope);
  program::Argument tensor(Json json, Scope& scope);
  program::Argument optional_tensor(Json json, Scope& scope);
  program::Argument symbolic(Json json, Scope& scope);
  program::Argument body(JsonObject graph_argument);
  program::Argument value(std::string_view name, Scope& scope);
  template <class Read>
  program::List list(Json json, std::string_view what, const Read& read);

  program::Program& program_;
  Metadata metadata_;
  Scope main_;
  std::unordered_map<std::string_view, Target> targets_;
  std::vector<program::Element> elements_;  // of the graph being read
};

}  // namespace sardonyx::pt2
