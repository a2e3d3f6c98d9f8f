#include "program/ir/target.h"

#include <algorithm>
#include <utility>

namespace sardonyx::program {
namespace {

bool drop_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// "aten.max.dim" or "aten::max.dim" -> "aten::max.dim"
std::string operator_name(std::string_view text) {
  std::size_t separator = text.find("::");
  std::size_t width = 2;
  if (separator == std::string_view::npos) {
    separator = text.find('.');
    width = 1;
  }
  if (separator == std::string_view::npos) return std::string(text);
  std::string_view rest = text.substr(separator + width);
  constexpr std::string_view kDefault = ".default";
  if (rest.ends_with(kDefault)) rest.remove_suffix(kDefault.size());
  return std::string(text.substr(0, separator)) + "::" + std::string(rest);
}

// "and_" is how Python's operator module spells a keyword.
std::string sym_name(std::string_view name) {
  drop_prefix(name, "_");
  drop_prefix(name, "sym_");
  while (name.ends_with('_')) name.remove_suffix(1);
  return "sym::" + std::string(name);
}

bool is_python_module(std::string_view text) {
  return text.starts_with("torch.") || text.find('.') == std::string_view::npos;
}

bool is_tensor(const Argument& argument) {
  Value* const* value = argument.get<Value*>();
  return value && *value && (*value)->kind == ValueKind::kTensor;
}

TypeSpec type_of(const Argument& argument) {
  TypeSpec type;
  type.optional = true;
  bool tensors = is_tensor(argument);
  if (const List* items = argument.get<List>()) {
    type.list_depth = 1;
    type.optional_items = true;
    // The arguments of an operator that another one runs are a list of all kinds.
    const auto fits = [](const Argument& item) { return is_tensor(item) || item.get<None>(); };
    tensors = !items->empty() && is_tensor(items->front()) &&
              std::all_of(items->begin(), items->end(), fits);
  }
  if (tensors) type.kind = TypeKind::kTensor;
  return type;
}

// A schema with one parameter an argument: positional ones are called arg0, arg1, ... where no
// partial schema names them.
Schema schema_from(const std::string& name, const Schema* known,
                   const std::vector<Argument>& positional,
                   const std::vector<NamedArgument>& named) {
  Schema schema;
  const std::size_t dot = name.find('.', name.find("::") + 1);
  schema.name = name.substr(0, dot);
  if (dot != std::string::npos) schema.overload = name.substr(dot + 1);
  for (std::size_t i = 0; i < positional.size(); ++i) {
    Parameter parameter;
    parameter.name = known && i < known->parameters.size() ? known->parameters[i].name
                                                           : "arg" + std::to_string(i);
    parameter.type = type_of(positional[i]);
    schema.parameters.push_back(std::move(parameter));
  }
  for (const NamedArgument& argument : named) {
    Parameter parameter;
    parameter.name = argument.name;
    parameter.type = type_of(argument.value);
    schema.parameters.push_back(std::move(parameter));
  }
  schema.returns.emplace_back();
  return schema;
}

bool knows(const Schema& schema, const std::vector<NamedArgument>& named) {
  for (const NamedArgument& argument : named) {
    if (!schema.find(argument.name)) return false;
  }
  return true;
}

// Gathers the positional arguments from the last parameter on, called `args`, into one list.
void gather_variadic(const Schema& schema, std::vector<Argument>& positional) {
  if (schema.parameters.empty() || schema.parameters.back().name != "args") return;
  const std::size_t fixed = schema.parameters.size() - 1;
  if (positional.size() < fixed) return;
  if (schema.space() == "sym" && positional.size() == fixed + 1 && positional[fixed].get<List>())
    return;  // sym_sum takes a list as it is
  List rest(positional.begin() + static_cast<std::ptrdiff_t>(fixed), positional.end());
  positional.resize(fixed);
  positional.emplace_back(std::move(rest));
}

}  // namespace

std::string resolve_target(std::string_view target) {
  if (drop_prefix(target, "torch.ops.") || target.find("::") != std::string_view::npos)
    return operator_name(target);
  for (const std::string_view module : {"_operator.", "operator.", "math.", "builtins."}) {
    if (drop_prefix(target, module)) return sym_name(target);
  }
  if (target.starts_with("torch.sym_") || target.starts_with("torch._sym_"))
    return sym_name(target.substr(target.find('.') + 1));
  if (is_python_module(target)) {
    const std::size_t dot = target.rfind('.');
    return "python::" +
           std::string(dot == std::string_view::npos ? target : target.substr(dot + 1));
  }
  return operator_name(target);
}

BoundCall bind_target(Program& program, const std::string& name, std::vector<Argument> positional,
                      std::vector<NamedArgument> named) {
  const Schema* schema = find_schema(name);
  const bool pseudo = schema && (schema->space() == "sym" || schema->space() == "higher_order");
  if (pseudo) {
    if (schema->space() == "sym") {
      // Python's names for the operands of a + b say nothing.
      for (NamedArgument& argument : named) positional.push_back(std::move(argument.value));
      named.clear();
    }
    gather_variadic(*schema, positional);
  }
  const bool fits = schema && positional.size() <= schema->parameters.size();
  if (!fits || !knows(*schema, named)) {
    schema = program.add_schema(schema_from(name, schema, positional, named));
  }
  BoundCall call;
  call.schema = schema;
  call.arguments = bind(*schema, std::move(positional), std::move(named));
  return call;
}

}  // namespace sardonyx::program
