// The operators that a live program calls.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "program/ir/program.h"

namespace sardonyx::live {

class Targets {
 public:
  explicit Targets(program::Program& program) : program_(program) {}

  // Finds the schema of `target` (an OpOverload, a HigherOrderOperator, or a function on symbolic
  // numbers such as operator.add or torch.sym_float) and binds the arguments to it. What is known
  // of a target is looked up once for each object.
  void bind(nanobind::handle target, std::vector<program::Argument> positional,
            std::vector<program::NamedArgument> named, program::Call& call);

  // "aten::add.Tensor", "higher_order::cond", "sym::add"
  const std::string& name(nanobind::handle target) { return of(target).name; }

 private:
  struct Known {
    std::string name;                         // "aten::add.Tensor"
    const program::Schema* schema = nullptr;  // null: bound by name alone
  };
  const Known& of(nanobind::handle target);
  Known look_up(nanobind::handle target);
  const program::Schema* own_schema(nanobind::handle overload);

  program::Program& program_;
  std::unordered_map<PyObject*, Known> known_;
  std::vector<nanobind::object> kept_;
};

}  // namespace sardonyx::live
