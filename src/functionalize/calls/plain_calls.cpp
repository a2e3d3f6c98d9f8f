#include "functionalize/calls/plain_calls.h"

#include <optional>
#include <string>
#include <string_view>

#include "functionalize/views/builder.h"
#include "functionalize/views/refusal.h"
#include "program/ir/target.h"

namespace sardonyx::functionalize {
namespace {

using program::List;
using program::Program;
using program::Schema;

constexpr std::string_view kWithEffects = "higher_order::with_effects";
constexpr std::string_view kAutomatic = "higher_order::auto_functionalized";
constexpr std::string_view kAutomaticWithBases = "higher_order::auto_functionalized_v2";

const Schema& schema_of(const Call& call, std::size_t position) {
  const auto* op =
      position < call.arguments.size() ? call.arguments[position].get<program::Opaque>() : nullptr;
  const Schema* schema =
      op ? program::find_schema(program::resolve_target(op->description)) : nullptr;
  if (schema) return *schema;
  refuse_call(call, "SX1701",
              call.schema->qualified() + " runs an operator that is not known here" +
                  (op ? ": " + op->description : std::string()),
              "capture the program without taking it apart, so that the operator is called itself");
}

// The calls of one wrapped operator, made in order.
struct Unwrapping {
  Program& program;
  const Call& wrapped;
  PlainCalls made;

  Call* add(const Schema& schema, std::vector<Argument> arguments) {
    Call* call = program.add_call();
    call->schema = &schema;
    call->arguments = std::move(arguments);
    call->source = wrapped.source;
    call->name = wrapped.name;
    made.calls.push_back(call);
    return call;
  }
  Value* add(std::string_view op, std::vector<NamedArgument> arguments, const Type& type,
             const std::string& name) {
    const Schema& schema = *program::find_schema(op);
    Call* call = add(schema, program::bind(schema, {}, std::move(arguments)));
    Value* value = program.add_value();
    value->name = name;
    value->dtype = type.dtype;
    value->shape = type.shape;
    value->strides = type.strides;
    value->producer = call;
    call->outputs.push_back(value);
    return value;
  }
  // Outputs [first, last) of the wrapping are those of `call`.
  void take_outputs(Call* call, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last && i < wrapped.outputs.size(); ++i) {
      Value* output = wrapped.outputs[i];
      if (output) {
        output->producer = call;
        output->index = static_cast<std::uint32_t>(call->outputs.size());
      }
      call->outputs.push_back(output);
    }
  }
  void result(std::size_t output, const Argument& value) {
    if (output < wrapped.outputs.size() && wrapped.outputs[output])
      made.results.emplace_back(wrapped.outputs[output], value);
  }
  Value* copy(Value* of) {
    return add("aten::clone", {{"self", of}}, type_of(*of), of->name + "_copy");
  }
};

// (token, op, args...) -> (token, results...)
PlainCalls without_effects(Program& program, const Call& call) {
  Unwrapping unwrapping{program, call, {}};
  const Schema& schema = schema_of(call, 1);
  std::vector<Argument> positional;
  std::vector<NamedArgument> named;
  for (std::size_t i = 2; i < call.arguments.size(); ++i) {
    const std::string& name = call.schema->parameters[i].name;
    const List* list = call.arguments[i].get<List>();
    if (name == "args" && list) {
      positional.insert(positional.end(), list->begin(), list->end());
    } else if (name.starts_with("arg")) {
      positional.push_back(call.arguments[i]);
    } else {
      named.push_back({name, call.arguments[i]});
    }
  }
  Call* plain =
      unwrapping.add(schema, program::bind(schema, std::move(positional), std::move(named)));
  unwrapping.take_outputs(plain, 1, call.outputs.size());
  unwrapping.result(0, call.arguments[0]);
  return std::move(unwrapping.made);
}

const Argument* find(const Call& call, const std::string& name) {
  const auto position = call.schema->find(name);
  return position ? &call.arguments[*position] : nullptr;
}

// The argument as a view of the copy of its base: the whole, a slice, or by strides.
Argument view_of_base(Unwrapping& unwrapping, const std::string& name, const List& copies) {
  const Call& call = unwrapping.wrapped;
  const Argument* index = find(call, "_" + name + "_base_index");
  const Expr* number = index ? index->get<Expr>() : nullptr;
  if (!number || !number->is_constant()) return {};
  Value* base = *copies.at(static_cast<std::size_t>(number->value())).get<Value*>();
  if (const Argument* dim = find(call, "_" + name + "_slice_dim")) {
    const Argument* start = find(call, "_" + name + "_slice_start");
    const Argument* end = find(call, "_" + name + "_slice_end");
    Type type = type_of(*base);
    type.shape.assign(type.shape.size(), Expr());
    return unwrapping.add("aten::slice.Tensor",
                          {{"self", base},
                           {"dim", *dim},
                           {"start", start ? *start : Argument()},
                           {"end", end ? *end : Argument()}},
                          type, name);
  }
  const Argument* size = find(call, "_" + name + "_size");
  const Argument* stride = find(call, "_" + name + "_stride");
  const Argument* offset = find(call, "_" + name + "_storage_offset");
  if (!size || !stride || !offset || !size->get<List>()) return base;
  Type type = contiguous(base->dtype, {});
  for (const Argument& each : *size->get<List>()) type.shape.push_back(*each.get<Expr>());
  for (const Argument& each : *stride->get<List>()) type.strides.push_back(*each.get<Expr>());
  return unwrapping.add(
      "aten::as_strided",
      {{"self", base}, {"size", *size}, {"stride", *stride}, {"storage_offset", *offset}}, type,
      name);
}

Argument copied(Unwrapping& unwrapping, const Argument& argument) {
  if (Value* const* value = argument.get<Value*>()) return unwrapping.copy(*value);
  if (const List* list = argument.get<List>()) {
    List copies;
    for (const Argument& item : *list) copies.push_back(copied(unwrapping, item));
    return copies;
  }
  return argument;
}

// The wrapping gives the operator's results and then the new contents of the bases (v2) or of the
// arguments that are written to.
PlainCalls with_writes(Program& program, const Call& call) {
  Unwrapping unwrapping{program, call, {}};
  const Schema& schema = schema_of(call, 0);
  const bool has_bases = call.schema->name == kAutomaticWithBases;
  List contents;
  if (const Argument* bases = find(call, "_all_bases"); bases && has_bases)
    contents = *copied(unwrapping, *bases).get<List>();
  std::vector<NamedArgument> named;
  for (const program::Parameter& parameter : schema.parameters) {
    Argument value;
    if (!parameter.alias.is_write) {
      const Argument* given = find(call, parameter.name);
      if (!given) continue;
      value = *given;
    } else if (has_bases) {
      value = view_of_base(unwrapping, parameter.name, contents);
    } else {
      const Argument* given = find(call, parameter.name);
      value = given ? copied(unwrapping, *given) : Argument();
      contents.push_back(value);
    }
    named.push_back({parameter.name, std::move(value)});
  }
  Call* plain = unwrapping.add(schema, program::bind(schema, {}, std::move(named)));
  // An operator without results gives None in their place.
  const std::size_t results = std::max<std::size_t>(schema.returns.size(), 1);
  if (!schema.returns.empty()) unwrapping.take_outputs(plain, 0, results);
  for (std::size_t i = 0; i < contents.size(); ++i) unwrapping.result(results + i, contents[i]);
  return std::move(unwrapping.made);
}

}  // namespace

bool runs_operator(const Call& call) {
  const std::string_view name = call.schema->name;
  return name == kWithEffects || name == kAutomatic || name == kAutomaticWithBases;
}

PlainCalls plain_calls(Program& program, const Call& call) {
  return call.schema->name == kWithEffects ? without_effects(program, call)
                                           : with_writes(program, call);
}

}  // namespace sardonyx::functionalize
