// Rebuilds one graph without writes.
#pragma once

#include "functionalize/writes/functional_graph.h"
#include "functionalize/writes/write_rewriter.h"

namespace sardonyx::functionalize {

class Rewriter {
 public:
  // Values that share memory when the graph starts are to be bound before.
  explicit Rewriter(FunctionalGraph& graph) : graph_(graph), writes_(graph) {}

  // Leaves the graph's calls and outputs without writes.
  void run();

 private:
  void visit(Call& call);
  void register_views(Call& call, ViewFamily family);

  FunctionalGraph& graph_;
  WriteRewriter writes_;
};

}  // namespace sardonyx::functionalize
