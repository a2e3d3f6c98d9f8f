// From what a capture calls an operator to the name of its schema; the same for every front end.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "program/ir/program.h"

namespace sardonyx::program {

// "torch.ops.aten.max.dim", "aten.max.dim", "aten::max.dim" -> "aten::max.dim" (the overload name
// "default" is dropped); "torch.ops.higher_order.cond" -> "higher_order::cond";
// "_operator.floordiv", "math.ceil", "torch.sym_min", "builtins.round" -> "sym::floordiv", ...;
// any other Python function -> "python::" and its last name.
std::string resolve_target(std::string_view python_target);

struct BoundCall {
  const Schema* schema = nullptr;
  std::vector<Argument> arguments;
};

// Finds the schema by its resolved name and binds the arguments. An operator that this build does
// not know, or whose arguments its schema does not have (a newer PyTorch's), gets a schema made of
// the arguments at hand, so that it can still be listed, reported and bound by name.
BoundCall bind_target(Program& program, const std::string& name, std::vector<Argument> positional,
                      std::vector<NamedArgument> named);

}  // namespace sardonyx::program
