#include "functionalize/views/builder.h"

#include <utility>

namespace sardonyx::functionalize {

Type type_of(const Value& value) { return {value.dtype, value.shape, value.strides}; }

Type contiguous(base::DType dtype, std::vector<Expr> shape) {
  return {dtype, std::move(shape), {}};
}

void Names::gather(const program::Graph& graph) {
  for (const Value* input : graph.inputs) {
    if (input) taken_.insert(input->name);
  }
  for (const Call* call : graph.calls) {
    taken_.insert(call->name);
    for (const Value* output : call->outputs) {
      if (output) taken_.insert(output->name);
    }
    for (const Argument& argument : call->arguments) {
      if (program::Graph* const* body = argument.get<program::Graph*>()) gather(**body);
    }
  }
}

std::string Names::fresh(std::string_view stem) {
  if (!gathered_) {
    gathered_ = true;
    gather(*program_.graph);
  }
  std::string name(stem);
  if (!taken_.contains(name)) return name;
  std::size_t& last = last_[name];
  const std::size_t length = name.size();
  do {
    name.resize(length);
    name += '_';
    name += std::to_string(++last);
  } while (taken_.contains(name));
  return name;
}

Call* Builder::append(const program::Schema& schema, std::vector<Argument> arguments,
                      const Cause& cause) {
  Call* call = program_.add_call();
  call->schema = &schema;
  call->arguments = std::move(arguments);
  call->source = cause.source;
  call->name = cause.name;
  calls_.push_back(call);
  return call;
}

Value* Builder::output(Call& call, const Type& type, std::string_view name) {
  Value* value = program_.add_value();
  value->name = names_.fresh(name);
  value->dtype = type.dtype;
  value->shape = type.shape;
  value->strides = type.strides;
  names_.take(value->name);
  return adopt(call, value);
}

Value* Builder::adopt(Call& call, Value* value) {
  value->producer = &call;
  value->index = static_cast<std::uint32_t>(call.outputs.size());
  call.outputs.push_back(value);
  return value;
}

Value* Builder::add(std::string_view op, std::vector<NamedArgument> arguments, const Type& type,
                    const Cause& cause, std::string_view name) {
  const program::Schema* schema = program::find_schema(op);
  if (!schema) base::fail("SX1203", "no schema of " + std::string(op));
  Call* call = append(*schema, program::bind(*schema, {}, std::move(arguments)), cause);
  Value* value = output(*call, type, name);
  // A call is known by what it makes.
  call->captured = call->name;
  call->name = value->name;
  return value;
}

}  // namespace sardonyx::functionalize
