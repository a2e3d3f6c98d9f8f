#include <utility>

#include "base/diagnostic.h"
#include "program/ir/program.h"
#include "program/schema/coerce.h"

namespace sardonyx::program {
namespace {

[[noreturn]] void refuse(const Schema& schema, const std::string& what) {
  base::Diagnostic diagnostic;
  diagnostic.code = "SX1204";
  diagnostic.message = schema.qualified() + ": " + what;
  diagnostic.op = schema.qualified();
  throw base::Error(std::move(diagnostic));
}

void place(const Schema& schema, std::size_t position, Argument value,
           std::vector<Argument>& arguments) {
  const Parameter& parameter = schema.parameters[position];
  const std::string problem = coerce(parameter.type, value);
  if (!problem.empty()) refuse(schema, "argument '" + parameter.name + "': " + problem);
  arguments[position] = std::move(value);
}

}  // namespace

std::vector<Argument> bind(const Schema& schema, std::vector<Argument> positional,
                           std::vector<NamedArgument> named) {
  const std::size_t count = schema.parameters.size();
  std::vector<Argument> arguments(count);
  std::vector<bool> given(count, false);
  if (positional.size() > count) {
    refuse(schema, "takes " + std::to_string(count) + " arguments, got " +
                       std::to_string(positional.size()));
  }
  for (std::size_t i = 0; i < positional.size(); ++i) {
    place(schema, i, std::move(positional[i]), arguments);
    given[i] = true;
  }
  for (NamedArgument& argument : named) {
    const auto position = schema.find(argument.name);
    if (!position) refuse(schema, "has no argument '" + argument.name + "'");
    if (given[*position]) refuse(schema, "argument '" + argument.name + "' is given twice");
    place(schema, *position, std::move(argument.value), arguments);
    given[*position] = true;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (given[i]) continue;
    const Parameter& parameter = schema.parameters[i];
    if (parameter.default_value) {
      arguments[i] = *parameter.default_value;
    } else if (!parameter.type.optional && parameter.type.kind != TypeKind::kGenerator) {
      refuse(schema, "argument '" + parameter.name + "' is missing");
    }
  }
  return arguments;
}

}  // namespace sardonyx::program
