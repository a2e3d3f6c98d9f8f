// Loops that count: what their bodies write to of what they are given, and of what they carry.
#pragma once

#include <vector>

#include "functionalize/writes/body_writes.h"
#include "functionalize/writes/functional_graph.h"
#include "program/ir/regions.h"

namespace sardonyx::functionalize {

class CountedLoop {
 public:
  // `outputs` are those that the body had before its writes were taken out.
  CountedLoop(FunctionalGraph& outer, Call& call, const program::Region& region,
              FunctionalGraph& body, const program::List& outputs);

  // Adds what may alias after the loop, and what it may have written to.
  void learn(PossibleEffects& effects);
  // Where a write of the body shows after the loop.
  enum class Reach { kOperand, kNowhere, kUnknown };
  Reach reach_of(const BodyWrite& written);

 private:
  bool is_read_after(Value* operand);

  FunctionalGraph& outer_;
  Call& call_;
  const program::Region& region_;
  FunctionalGraph& body_;
  std::vector<Value*> operands_;
  // The memories of the loop's inputs, and of what its body leaves in their places.
  std::vector<const Memory*> before_, after_;
};

// Makes the loop carry what its body writes to.
void carry_counted(FunctionalGraph& outer, Call& call, const program::RegionKind& kind,
                   FunctionalGraph& step, std::vector<BodyWrite>& writes);

}  // namespace sardonyx::functionalize
