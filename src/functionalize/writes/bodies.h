// Bodies of control flow: what they write to of what they are given becomes a further result.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "functionalize/writes/body_writes.h"
#include "functionalize/writes/functional_graph.h"
#include "program/ir/regions.h"

namespace sardonyx::functionalize {

// A call with bodies, in the graph around it.
class BodyRewriter {
 public:
  // Leaves the calls and outputs of a body without writes.
  using Rewrite = std::function<void(FunctionalGraph&)>;

  BodyRewriter(FunctionalGraph& outer, Call& call, const program::Region& region);
  void run(const Rewrite& rewrite);

 private:
  void bind_operands(FunctionalGraph& body);
  std::vector<BodyWrite> written_operands(FunctionalGraph& body) const;
  bool seen_elsewhere(const BodyWrite& written);
  void add_writes_of(FunctionalGraph& body, const program::List& outputs);
  void learn_of_branch(FunctionalGraph& body, const program::List& outputs);
  void return_writes();
  void note_effects();

  FunctionalGraph& outer_;
  Call& call_;
  const program::Region& region_;
  std::vector<Value*> operands_;
  std::vector<std::unique_ptr<FunctionalGraph>> bodies_;
  std::vector<BodyWrite> writes_;
  PossibleEffects effects_;
};

}  // namespace sardonyx::functionalize
