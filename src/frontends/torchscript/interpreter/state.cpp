#include "frontends/torchscript/interpreter/state.h"

#include <algorithm>

#include "base/diagnostic.h"
#include "frontends/torchscript/recording/body.h"

namespace sardonyx::torchscript {

using Kind = AbstractValue::Kind;

static void note_lost_state(program::Program& program, const std::string& path) {
  base::Diagnostic note;
  note.severity = base::Severity::kWarning;
  note.code = "SX1215";
  note.message = "the program changes '" + path +
                 "', which is no tensor: every run of the model starts from the captured value";
  note.help = "keep the state in a buffer (register_buffer)";
  program.notes.push_back(std::move(note));
}

void add_state(GraphRecorder& recorder) {
  program::Program& program = recorder.program();
  const auto has_output = [&](const std::string& target) {
    return std::ranges::any_of(program.outputs, [&](const program::OutputSpec& output) {
      return output.kind == program::OutputKind::kBufferMutation && output.target == target;
    });
  };
  for (const auto& [held, before] : recorder.writes().states()) {
    for (std::size_t i = 0; i < held->items.size(); ++i) {
      const bool is_named = i < held->names.size();
      const std::string name = is_named ? held->names[i] : std::to_string(i);
      const std::string path = held->path.empty() ? name : held->path + "." + name;
      const AbstractValue* const initial = i < before.items.size() ? &before.items[i] : nullptr;
      const AbstractValue& after = held->items[i];
      if (after.kind == Kind::kUninitialized || (initial && is_same(*initial, after))) continue;
      if (!is_named || !initial || !initial->is_tensor() || !after.is_tensor()) {
        note_lost_state(program, path);
        continue;
      }
      if (has_output(path)) continue;
      program::Value* const value = recorder.tensor(after);
      program.graph->outputs.emplace_back(value);
      program.outputs.push_back({program::OutputKind::kBufferMutation, value, path});
    }
    if (held->items.size() < before.items.size()) note_lost_state(program, held->path);
  }
}

}  // namespace sardonyx::torchscript
