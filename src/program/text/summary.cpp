#include "program/text/summary.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace sardonyx::program {
namespace {

struct Counter {
  std::unordered_map<std::string, std::size_t> counts;
  std::size_t calls = 0;

  void visit(const Graph& graph) {
    for (const Call* call : graph.calls) {
      ++calls;
      ++counts[call->schema->qualified()];
      for (const Argument& argument : call->arguments) {
        if (Graph* const* body = argument.get<Graph*>()) visit(**body);
      }
    }
  }
};

std::int64_t elements(const Weight& weight) {
  std::int64_t count = 1;
  for (const std::int64_t size : weight.shape) count *= size;
  return count;
}

}  // namespace

Summary summarize(const Program& program) {
  Summary summary;
  if (program.graph) {
    Counter counter;
    counter.visit(*program.graph);
    summary.calls = counter.calls;
    for (const auto& [name, count] : counter.counts) summary.operators.push_back({name, count});
  }
  std::sort(summary.operators.begin(), summary.operators.end(),
            [](const OperatorCount& a, const OperatorCount& b) {
              return a.count != b.count ? a.count > b.count : a.name < b.name;
            });

  std::unordered_set<const Storage*> storages;
  for (const InputSpec& input : program.inputs) {
    const Weight* weight = input.value ? input.value->weight : nullptr;
    if (!weight) continue;
    ++summary.weights;
    if (weight->storage && !storages.insert(weight->storage).second) continue;
    summary.weight_elements += elements(*weight);
    if (weight->storage) summary.weight_bytes += weight->storage->size;
  }
  for (const OutputSpec& output : program.outputs) {
    const bool mutation =
        output.kind == OutputKind::kBufferMutation || output.kind == OutputKind::kInputMutation;
    summary.mutations += mutation ? 1 : 0;
  }
  return summary;
}

}  // namespace sardonyx::program
