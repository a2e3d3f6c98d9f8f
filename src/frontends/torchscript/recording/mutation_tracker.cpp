#include "frontends/torchscript/recording/mutation_tracker.h"

#include <algorithm>

#include "frontends/torchscript/recording/operands.h"
#include "program/facts/facts.h"

namespace sardonyx::torchscript {

using Kind = AbstractValue::Kind;
using program::Argument;
using program::Schema;
using program::Value;

void MutationTracker::before_write(const std::shared_ptr<Container>& held) {
  if (held->outlives_call) keep_state(held);
  if (possible_aliases_.contains(held)) refuse_write_to_alias();
  for (UndoLog* undo_log : undo_logs_) {
    const bool known =
        std::ranges::any_of(*undo_log, [&](const Write& write) { return write.held == held; });
    if (!known) undo_log->push_back({held, *held});
  }
}

// Called before the first change. Weights are read, so that they are the same values in all
// branches.
void MutationTracker::keep_state(const std::shared_ptr<Container>& held) {
  const bool is_known =
      std::ranges::any_of(states_, [&](const Write& write) { return write.held == held; });
  if (is_known) return;
  AbstractValue object;
  object.kind = Kind::kObject;
  object.held = held;
  weights_.read_held(object);
  states_.push_back({held, *held});
}

void MutationTracker::refuse_write_to_alias() {
  refuse("a list or a dictionary is changed that is one of several, depending on data",
         "change a copy of it: list(x) or dict(x)");
}

const Value* whole_of(const Value* value) {
  while (value && value->producer && value->producer->schema &&
         program::facts_of(*value->producer->schema).view != program::ViewFamily::kNone)
    value = program::tensor_of(value->producer->arguments.front());
  return value;
}

// A write to a tensor that a list holds would have to show in the list.
void MutationTracker::check_write(const Schema& schema, const std::vector<Argument>& arguments) {
  if (!schema.mutates() || arguments.empty()) return;
  const Value* const written = whole_of(program::tensor_of(arguments.front()));
  if (!written) return;
  if (copied_.contains(written)) refuse_write_to_element(schema.qualified());
  written_.push_back(written);
}

void MutationTracker::refuse_write_to_element(const std::string& op) {
  refuse(op + " writes to a tensor, or to a view of one, that stands in a list with a "
              "data-dependent length",
         "append a clone of it");
}

bool MutationTracker::was_written(const Value* value) const {
  return std::ranges::find(written_, whole_of(value)) != written_.end();
}

void MutationTracker::copy_into_list(const Value* element) { copied_.insert(whole_of(element)); }

}  // namespace sardonyx::torchscript
