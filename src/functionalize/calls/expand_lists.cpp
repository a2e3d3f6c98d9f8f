#include "functionalize/calls/expand_lists.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "functionalize/views/builder.h"
#include "functionalize/views/refusal.h"
#include "program/facts/facts.h"

namespace sardonyx::functionalize {
namespace {

using program::Graph;
using program::List;
using program::Program;
using program::Schema;

bool applies_to_list(const Call& call) { return !program::operator_on_each(*call.schema).empty(); }

// The overloads that operators on one tensor may have for the kind of the second argument.
std::array<std::string_view, 3> overloads(const Call& call) {
  const std::string_view overload = call.schema->overload;
  if (overload == "ScalarAndTensor") return {"Scalar", "", ""};
  if (overload.starts_with("Scalar")) return {"Scalar", "Tensor_Scalar", ""};
  if (overload == "List" || overload == "Tensor") return {"Tensor", "Tensor_Tensor", ""};
  return {"", "", ""};
}

const Schema* schema_of_one(const Call& call) {
  std::string name(program::operator_on_each(*call.schema));
  // In place, maximum and minimum exist as operators on lists alone.
  const bool assigns = name.ends_with('_');
  for (const std::string_view overload : overloads(call)) {
    const std::string full =
        "aten::" + name + (overload.empty() ? "" : ".") + std::string(overload);
    if (const Schema* schema = program::find_schema(full)) return schema;
  }
  if (assigns) name.pop_back();
  return assigns ? program::find_schema("aten::" + name) : nullptr;
}

class ListExpansion {
 public:
  explicit ListExpansion(Program& program) : program_(program), names_(program) {}

  void run(Graph& graph) {
    std::vector<Call*> calls;
    for (Call* call : graph.calls) {
      if (applies_to_list(*call)) {
        expand(*call, calls);
      } else {
        calls.push_back(call);
      }
    }
    graph.calls = std::move(calls);
  }

 private:
  void expand(const Call& call, std::vector<Call*>& calls) {
    const Schema* schema = schema_of_one(call);
    const List* list = nullptr;
    for (const Argument& argument : call.arguments) {
      if (!list && argument.get<List>()) list = argument.get<List>();
    }
    if (!schema || !list) {
      refuse_call(call, "SX1701", call.schema->qualified() + " has no form for one tensor",
                  "call the operator on each tensor");
    }
    for (std::size_t i = 0; i < list->size(); ++i) expand_one(call, *schema, i, calls);
  }

  void expand_one(const Call& call, const Schema& schema, std::size_t i,
                  std::vector<Call*>& calls) {
    const bool assigns = call.schema->name.ends_with('_');
    std::vector<Argument> positional;
    std::vector<NamedArgument> named;
    for (std::size_t position = 0; position < call.arguments.size(); ++position) {
      const Argument& argument = call.arguments[position];
      const std::string& name = call.schema->parameters[position].name;
      const List* list = argument.get<List>();
      const Argument& own = list ? (*list)[i] : argument;
      const bool by_name = name == "alpha" || name == "value" || name == "rounding_mode" ||
                           name == "dtype" || name == "memory_format" || name == "scalars";
      // addcmul takes its numbers by name, add takes them in order.
      const bool addc = schema.base_name().starts_with("addc");
      if (by_name && (name != "scalars" || addc)) {
        const std::string wanted = name == "scalars" ? "value" : name;
        if (schema.find(wanted)) named.push_back({wanted, own});
      } else {
        positional.push_back(own);
      }
    }
    Call* one = program_.add_call();
    one->schema = &schema;
    one->arguments = program::bind(schema, std::move(positional), std::move(named));
    one->source = call.source;
    one->name = names_.fresh(call.name);
    names_.take(one->name);
    calls.push_back(one);
    if (!assigns) return take_output(call, i, *one);
    if (!schema.mutates()) assign(call, i, *one, calls);
  }

  static void take_output(const Call& call, std::size_t i, Call& one) {
    Value* output = i < call.outputs.size() ? call.outputs[i] : nullptr;
    if (output) {
      output->producer = &one;
      output->index = 0;
    }
    one.outputs.push_back(output);
  }

  // maximum_ is there for lists only: copies what maximum gives.
  void assign(const Call& call, std::size_t i, Call& one, std::vector<Call*>& calls) {
    Value* target = *(*call.arguments.front().get<List>())[i].get<Value*>();
    Builder builder(program_, names_, calls);
    Value* content = builder.output(one, contiguous(target->dtype, target->shape), call.name);
    const Schema& copy = *program::find_schema("aten::copy_");
    builder.append(copy, program::bind(copy, {target, content}, {}), {call.source, call.name});
  }

  Program& program_;
  Names names_;
};

}  // namespace

void expand_lists(Program& program, Graph& graph) {
  for (const Call* call : graph.calls) {
    for (const Argument& argument : call->arguments) {
      if (Graph* const* body = argument.get<Graph*>()) expand_lists(program, **body);
    }
  }
  const bool any = std::any_of(graph.calls.begin(), graph.calls.end(),
                               [](const Call* call) { return applies_to_list(*call); });
  if (any) ListExpansion(program).run(graph);
}

}  // namespace sardonyx::functionalize
