// One graph while it is rebuilt without writes: its new calls, and what each read sees.
#pragma once

#include <unordered_map>
#include <vector>

#include "functionalize/views/alias.h"
#include "functionalize/views/builder.h"
#include "functionalize/views/views.h"
#include "functionalize/writes/writes.h"

namespace sardonyx::functionalize {

// What is known of an operator, looked up once a schema.
struct OperatorRules {
  ViewFamily view = ViewFamily::kNone;
  WriteRule write;
};

// Shared by the graphs of one program.
struct Session {
  program::Program& program;
  Names names;
  std::vector<base::Diagnostic> diagnostics;
  std::unordered_map<const program::Schema*, OperatorRules> rules;

  explicit Session(program::Program& of) : program(of), names(of) {}
  const OperatorRules& rules_of(const program::Schema& schema);
};

class FunctionalGraph {
 public:
  FunctionalGraph(Session& session, program::Graph& graph);

  Session& session() { return session_; }
  // As it was captured, until finish().
  program::Graph& graph() { return graph_; }
  Builder& builder() { return builder_; }
  Aliases& aliases() { return aliases_; }
  const Aliases& aliases() const { return aliases_; }

  // Every value in it becomes what a read sees now.
  void read_in(Argument& argument);
  Argument current(const Argument& argument);
  // `target` holds `content` from now on, and `result` is another name of `target`.
  void store(Value* target, Value* content, Value* result, const Call& call, bool uniform = false);
  // How as_strided sees the memory of `parent`, which becomes the whole where that is needed.
  ViewKind place_strided(Call& call, Alias*& parent);

  // The next of the new calls.
  void append(Call& call) { calls_.push_back(&call); }
  // A further input of the graph.
  Value* add_input(std::string_view name, const Type& type);
  // Puts the new calls in the graph; nothing can be read afterwards.
  void finish();

 private:
  Session& session_;
  program::Graph& graph_;
  std::vector<Call*> calls_;
  Builder builder_;
  Aliases aliases_;
};

}  // namespace sardonyx::functionalize
