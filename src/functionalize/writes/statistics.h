// Running statistics of batch normalization.
#pragma once

#include "functionalize/writes/functional_graph.h"

namespace sardonyx::functionalize {

// Batch normalization in training mutates its running statistics, though its schema is silent.
void rewrite_batch_norm(FunctionalGraph& graph, Call& call);

}  // namespace sardonyx::functionalize
