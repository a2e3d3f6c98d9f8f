#include "functionalize/writes/functional_graph.h"

#include <utility>

namespace sardonyx::functionalize {

const OperatorRules& Session::rules_of(const program::Schema& schema) {
  const auto [place, is_new] = rules.try_emplace(&schema);
  if (is_new) place->second = {view_family(schema), write_rule(schema)};
  return place->second;
}

FunctionalGraph::FunctionalGraph(Session& session, program::Graph& graph)
    : session_(session),
      graph_(graph),
      builder_(session.program, session.names, calls_),
      aliases_(builder_, session.diagnostics) {
  calls_.reserve(graph.calls.size() + 16);
}

void FunctionalGraph::read_in(Argument& argument) {
  if (!aliases_.any_changed()) return;
  argument.each_value([&](Value*& value) { value = aliases_.read(value); });
}

Argument FunctionalGraph::current(const Argument& argument) {
  Argument result = argument;
  read_in(result);
  return result;
}

void FunctionalGraph::store(Value* target, Value* content, Value* result, const Call& call,
                            bool uniform) {
  Alias* alias = aliases_.of(target);
  aliases_.write(alias, content, call, uniform);
  if (result) aliases_.bind(result, alias);
}

// as_strided counts from the start of the memory, whatever view it is called on: its parent is the
// whole, when that lies in memory row by row.
ViewKind FunctionalGraph::place_strided(Call& call, Alias*& parent) {
  Alias* whole = parent->memory->ahead.front();
  const program::Weight* weight = whole->like->weight;
  const bool plain = is_contiguous(*whole->like) && (!weight || weight->offset == 0);
  if (whole == parent) return plain ? ViewKind::kStrided : ViewKind::kUnknown;
  if (!plain || !call.has("storage_offset")) return ViewKind::kUnknown;
  parent = whole;
  call.arguments.front() = aliases_.current(whole);
  return ViewKind::kStrided;
}

Value* FunctionalGraph::add_input(std::string_view name, const Type& type) {
  Value* value = builder_.program().add_value();
  value->name = session_.names.fresh(name);
  session_.names.take(value->name);
  value->dtype = type.dtype;
  value->shape = type.shape;
  value->strides = type.strides;
  graph_.inputs.push_back(value);
  return value;
}

void FunctionalGraph::finish() { graph_.calls = std::move(calls_); }

}  // namespace sardonyx::functionalize
