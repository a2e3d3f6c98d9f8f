#include "functionalize/writes/loop_inputs.h"

#include <algorithm>
#include <utility>

namespace sardonyx::functionalize {

using program::Call;
using program::Graph;
using program::List;
using program::Value;

List& list_argument(Call& call, std::string_view parameter) {
  return *call.arguments[*call.schema->find(parameter)].get<List>();
}

void order_inputs(Graph& graph, std::size_t carried, std::size_t captured,
                  const std::vector<std::size_t>& moved) {
  const std::vector<Value*> before = std::move(graph.inputs);
  graph.inputs.assign(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(carried));
  for (const std::size_t i : moved) graph.inputs.push_back(before[i]);
  const auto add_others = [&](std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i) {
      if (std::find(moved.begin(), moved.end(), i) == moved.end())
        graph.inputs.push_back(before[i]);
    }
  };
  add_others(captured, before.size());
  add_others(carried, captured);
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    if (graph.inputs[i]) graph.inputs[i]->index = static_cast<std::uint32_t>(i);
  }
}

}  // namespace sardonyx::functionalize
