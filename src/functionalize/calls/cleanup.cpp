#include "functionalize/calls/cleanup.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "program/facts/facts.h"

namespace sardonyx::functionalize {
namespace {

using program::Call;
using program::Value;

using Used = std::unordered_set<const Value*>;

void use(const program::Argument& argument, Used& used) {
  argument.each_value([&](const Value* value) { used.insert(value); });
}

// Nothing but this value may say what a number is that depends on data.
bool tells_size(const Value& value) {
  return symbolic::depends_on_data(value.expr) ||
         std::any_of(value.shape.begin(), value.shape.end(), symbolic::depends_on_data);
}

bool is_dead(const Call& call, const Used& used) {
  const std::string_view space = call.schema->space();
  if (space != "aten" && space != "prims" && space != "sym") return false;
  if (program::facts_of(*call.schema).asserts) return false;
  if (call.outputs.empty() || call.schema->mutates()) return false;
  return std::none_of(call.outputs.begin(), call.outputs.end(), [&](const Value* output) {
    return output && (used.contains(output) || tells_size(*output));
  });
}

}  // namespace

void drop_dead_calls(program::Graph& graph) {
  Used used;
  used.reserve(graph.calls.size() * 2);
  for (const program::Argument& output : graph.outputs) use(output, used);
  std::vector<Call*> kept;
  kept.reserve(graph.calls.size());
  for (auto place = graph.calls.rbegin(); place != graph.calls.rend(); ++place) {
    if (is_dead(**place, used)) continue;
    for (const program::Argument& argument : (*place)->arguments) use(argument, used);
    kept.push_back(*place);
  }
  std::reverse(kept.begin(), kept.end());
  graph.calls = std::move(kept);
}

}  // namespace sardonyx::functionalize
