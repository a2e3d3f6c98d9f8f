// The inputs of loops and of their bodies.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "program/ir/program.h"

namespace sardonyx::functionalize {

program::List& list_argument(program::Call& call, std::string_view parameter);

// Orders the inputs of a loop's body: those carried, those at `moved` that are so from now on,
// those added behind the `captured` ones, and the rest.
void order_inputs(program::Graph& graph, std::size_t carried, std::size_t captured,
                  const std::vector<std::size_t>& moved);

}  // namespace sardonyx::functionalize
