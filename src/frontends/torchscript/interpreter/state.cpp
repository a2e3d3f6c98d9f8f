// State: what a program leaves in the attributes of its modules, which the next call sees.
#include <algorithm>

#include "base/diagnostic.h"
#include "frontends/torchscript/interpreter/abstract_interpreter.h"
#include "frontends/torchscript/interpreter/body.h"

namespace sardonyx::torchscript {

using Kind = AbstractValue::Kind;

// Called before the first change. Weights are read, so that they are the same values in all
// branches.
void AbstractInterpreter::keep_state(const std::shared_ptr<Container>& held) {
  const bool is_known =
      std::ranges::any_of(states_, [&](const Write& write) { return write.held == held; });
  if (is_known) return;
  AbstractValue object;
  object.kind = Kind::kObject;
  object.held = held;
  read_weights(object);
  states_.push_back({held, *held});
}

// Tensors in buffers and other attributes are outputs, named after these, and the initial values
// are initializers. Anything else has no place in a model.
void AbstractInterpreter::add_state() {
  const auto has_output = [&](const std::string& target) {
    return std::ranges::any_of(program_.outputs, [&](const program::OutputSpec& output) {
      return output.kind == program::OutputKind::kBufferMutation && output.target == target;
    });
  };
  for (const auto& [held, before] : states_) {
    for (std::size_t i = 0; i < held->items.size(); ++i) {
      const bool is_named = i < held->names.size();
      const std::string name = is_named ? held->names[i] : std::to_string(i);
      const std::string path = held->path.empty() ? name : held->path + "." + name;
      const AbstractValue* const initial = i < before.items.size() ? &before.items[i] : nullptr;
      const AbstractValue& after = held->items[i];
      if (after.kind == Kind::kUninitialized || (initial && is_same(*initial, after))) continue;
      if (!is_named || !initial || !initial->is_tensor() || !after.is_tensor()) {
        note_lost_state(path);
        continue;
      }
      if (has_output(path)) continue;
      program::Value* const value = tensor(after);
      program_.graph->outputs.emplace_back(value);
      program_.outputs.push_back({program::OutputKind::kBufferMutation, value, path});
    }
    if (held->items.size() < before.items.size()) note_lost_state(held->path);
  }
}

void AbstractInterpreter::note_lost_state(const std::string& path) {
  base::Diagnostic note;
  note.severity = base::Severity::kWarning;
  note.code = "SX1215";
  note.message = "the program changes '" + path +
                 "', which is no tensor: every run of the model starts from the captured value";
  note.help = "keep the state in a buffer (register_buffer)";
  program_.notes.push_back(std::move(note));
}

}  // namespace sardonyx::torchscript
