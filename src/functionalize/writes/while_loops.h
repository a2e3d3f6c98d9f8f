// Loops with a condition: what their bodies write to is carried.
#pragma once

#include <vector>

#include "functionalize/writes/body_writes.h"
#include "functionalize/writes/functional_graph.h"
#include "program/ir/regions.h"

namespace sardonyx::functionalize {

// A loop carries what its body writes to. What it carries anyway is the body's own from the second
// run on: only what the first run writes reaches the operand.
void carry_contents(FunctionalGraph& outer, Call& call, const program::RegionKind& kind,
                    FunctionalGraph& condition, FunctionalGraph& step,
                    std::vector<BodyWrite>& writes);

}  // namespace sardonyx::functionalize
