// Bodies that only run their body (under set_grad_enabled, autocast, hints, ...) become part of the
// graph around them.
#pragma once

#include "program/ir/program.h"

namespace sardonyx::functionalize {

// Of `graph` and of the bodies in it. Cheap when there is nothing to do.
void inline_wrappers(program::Program& program, program::Graph& graph);

}  // namespace sardonyx::functionalize
