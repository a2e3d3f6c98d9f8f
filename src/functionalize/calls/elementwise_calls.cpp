#include "functionalize/calls/elementwise_calls.h"

#include <algorithm>

#include "program/facts/facts.h"

namespace sardonyx::functionalize {
namespace {

using program::Argument;
using program::Call;
using program::List;
using program::Value;

bool is_index(const Call& call) { return call.schema->qualified() == "aten::index.Tensor"; }

// With an integer tensor for each of the first dimensions, those tensors broadcast and their
// dimensions come first in the result.
bool indexes_something_else(const Call& call, const std::unordered_set<const Value*>& samples) {
  const List* indices = call.argument("indices").get<List>();
  if (!indices || samples.contains(tensor_of(call.argument("self")))) return false;
  return std::all_of(indices->begin(), indices->end(), [](const Argument& index) {
    const Value* value = tensor_of(index);
    return value && base::is_integer(value->dtype);
  });
}

}  // namespace

bool broadcasts_over_samples(const Call& call, const std::unordered_set<const Value*>& samples) {
  if (call.schema->space() != "aten" || call.schema->mutates()) return false;
  if (is_index(call)) return indexes_something_else(call, samples);
  if (!program::facts_of(*call.schema).pointwise) return false;
  if (call.outputs.size() != 1 || !call.outputs[0]) return false;
  // A sample of rank 0 counts for less when PyTorch finds the common type than a stack of them.
  const Value* first = nullptr;
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    const Value* value = tensor_of(call.arguments[i]);
    if (!value || call.schema->parameters[i].name == "condition") continue;
    if (first && value->dtype != first->dtype) return false;
    first = value;
  }
  return true;
}

std::size_t rank_of_samples(const Call& call) {
  if (!is_index(call)) return call.outputs.front()->rank();
  std::size_t rank = 0;
  for (const Argument& index : *call.argument("indices").get<List>())
    rank = std::max(rank, tensor_of(index)->rank());
  return rank;
}

}  // namespace sardonyx::functionalize
