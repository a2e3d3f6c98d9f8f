// Outputs of calls that nothing reads, the same for every front end.
#pragma once

#include <cstddef>
#include <span>

#include "program/ir/program.h"

namespace sardonyx::program {

// One of several results of a call.
struct Element {
  Call* call = nullptr;
  std::size_t index = 0;
};

// Of the results that were captured as one of several, the tensors that neither a call of the graph
// nor its outputs read become null. Bodies read what they are given alone.
void drop_unread(const Graph& graph, std::span<const Element> elements);

}  // namespace sardonyx::program
