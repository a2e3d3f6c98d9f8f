// Calls that run an operator which they have as an argument.
#pragma once

#include <utility>
#include <vector>

#include "program/ir/program.h"

namespace sardonyx::functionalize {

// The operator called as it would be without the wrapping, and what its results stand for.
struct PlainCalls {
  std::vector<program::Call*> calls;
  std::vector<std::pair<program::Value*, program::Argument>> results;
};

// with_effects, auto_functionalized and auto_functionalized_v2.
bool runs_operator(const program::Call& call);

// With effects: the operator, whose order the token kept. Auto-functionalized: copies of what it
// writes to, and the operator as it was before, writing to those. Throws SX1701 where the operator
// is not known.
PlainCalls plain_calls(program::Program& program, const program::Call& call);

}  // namespace sardonyx::functionalize
