// Drops the calls that nothing reads any more.
#pragma once

#include "program/ir/program.h"

namespace sardonyx::functionalize {

// Keeps assertions, calls that no one knows, and calls that say what a data-dependent size is.
void drop_dead_calls(program::Graph& graph);

}  // namespace sardonyx::functionalize
