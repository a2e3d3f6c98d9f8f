// The signature of a saved program: what its inputs and outputs are, the ranges of its sizes, and
// how callers nest its inputs and outputs.
#pragma once

#include "frontends/pt2/graph_reader.h"
#include "frontends/pt2/json.h"
#include "frontends/pt2/weights.h"
#include "program/ir/program.h"

namespace sardonyx::pt2 {

// `signature` is graph_module.signature; weights get their bytes from `weights`.
void read_signature(JsonObject signature, GraphReader& graphs, Weights& weights,
                    program::Program& program);

void read_ranges(JsonObject constraints, program::Program& program);

// `entries` is graph_module.module_call_graph, whose first entry is the root module.
void read_call_spec(JsonArray entries, program::Program& program);

}  // namespace sardonyx::pt2
