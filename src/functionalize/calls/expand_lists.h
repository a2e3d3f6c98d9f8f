// Operators on lists of tensors: _foreach_add and its kin.
#pragma once

#include "program/ir/program.h"

namespace sardonyx::functionalize {

// Each becomes one call a tensor of the operator that it applies, in place where it is.
void expand_lists(program::Program& program, program::Graph& graph);

}  // namespace sardonyx::functionalize
