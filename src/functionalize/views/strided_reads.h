// as_strided counts from the start of the memory, whatever view it is called on.
#pragma once

#include "program/ir/program.h"

namespace sardonyx::functionalize {

// Has every as_strided read what its argument is a view of, from an offset that it states.
void place_strided_reads(program::Graph& graph);

}  // namespace sardonyx::functionalize
