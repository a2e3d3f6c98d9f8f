#include "frontends/live/targets.h"

#include <utility>

#include "frontends/live/python.h"
#include "program/ir/target.h"

namespace sardonyx::live {
namespace {

bool fits(const program::Schema& schema, const std::vector<program::Argument>& positional,
          const std::vector<program::NamedArgument>& named) {
  if (positional.size() > schema.parameters.size()) return false;
  for (const program::NamedArgument& argument : named) {
    if (!schema.find(argument.name)) return false;
  }
  return true;
}

}  // namespace

void Targets::bind(nb::handle target, std::vector<program::Argument> positional,
                   std::vector<program::NamedArgument> named, program::Call& call) {
  const Known& known = of(target);
  const program::Schema* schema = known.schema;
  // A newer PyTorch may have given the operator an argument that our table does not know.
  if (schema && !fits(*schema, positional, named)) schema = own_schema(target);
  if (schema) {
    call.arguments = program::bind(*schema, std::move(positional), std::move(named));
    call.schema = schema;
    return;
  }
  program::BoundCall bound =
      program::bind_target(program_, known.name, std::move(positional), std::move(named));
  call.arguments = std::move(bound.arguments);
  call.schema = bound.schema;
}

const Targets::Known& Targets::of(nb::handle target) {
  if (const auto found = known_.find(target.ptr()); found != known_.end()) return found->second;
  kept_.push_back(nb::borrow(target));
  return known_.emplace(target.ptr(), look_up(target)).first->second;
}

Targets::Known Targets::look_up(nb::handle target) {
  Known known;
  if (is_a(target, classes().op_overload)) {
    known.name = text(call(target, names().name));
    known.schema = program::find_schema(known.name);
    if (!known.schema) known.schema = own_schema(target);
    return known;
  }
  const nb::object module = get(target, names().module_name);
  const nb::object name = get(target, names().name_of_function);
  std::string qualified = PyUnicode_Check(module.ptr()) ? std::string(text(module)) : "builtins";
  if (qualified.starts_with("torch._ops")) qualified.replace(0, 10, "torch.ops");
  known.name = program::resolve_target(qualified + "." + std::string(text(name)));
  return known;
}

const program::Schema* Targets::own_schema(nb::handle overload) {
  const std::string written = str_of(get(overload, names().schema));
  return program_.add_schema(program::parse_schema(written));
}

}  // namespace sardonyx::live
