#include "program/ir/unread_outputs.h"

#include <unordered_set>

namespace sardonyx::program {

void drop_unread(const Graph& graph, std::span<const Element> elements) {
  if (elements.empty()) return;
  std::unordered_set<const Value*> read;
  const auto note = [&read](const Value* value) { read.insert(value); };
  for (const Call* call : graph.calls) {
    for (const Argument& argument : call->arguments) argument.each_value(note);
  }
  for (const Argument& output : graph.outputs) output.each_value(note);
  for (const Element& element : elements) {
    Value*& value = element.call->outputs[element.index];
    if (value && value->kind == ValueKind::kTensor && !read.contains(value)) value = nullptr;
  }
}

}  // namespace sardonyx::program
