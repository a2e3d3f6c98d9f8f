// What torch.vmap and associative_scan leave in a capture: a region of calls on one sample each,
// between markers that hide a dimension and show it again.
#pragma once

#include "program/ir/program.h"

namespace sardonyx::functionalize {

// Takes the markers out of the graph and its bodies. Regions of elementwise calls compute on all
// samples at once; any other becomes a map over them.
void expand_vectorized_regions(program::Program& program, program::Graph& graph);

}  // namespace sardonyx::functionalize
