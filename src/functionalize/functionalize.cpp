#include "functionalize/functionalize.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "functionalize/calls/cleanup.h"
#include "functionalize/calls/expand_lists.h"
#include "functionalize/calls/inline_wrappers.h"
#include "functionalize/calls/vectorized_regions.h"
#include "functionalize/views/refusal.h"
#include "functionalize/views/strided_reads.h"
#include "functionalize/writes/rewriter.h"

namespace sardonyx::functionalize {
namespace {

using program::Graph;
using program::InputKind;
using program::InputSpec;
using program::OutputKind;
using program::OutputSpec;
using program::Program;
using program::Weight;

bool writes(Session& session, const Graph& graph) {
  for (const Call* call : graph.calls) {
    if (session.rules_of(*call->schema).write.kind != WriteKind::kNone) return true;
    for (const Argument& argument : call->arguments) {
      Graph* const* body = argument.get<Graph*>();
      if (body && *body && writes(session, **body)) return true;
    }
  }
  return false;
}

bool same_elements(const Weight& a, const Weight& b) {
  return a.offset == b.offset && a.dtype == b.dtype && a.shape == b.shape && a.strides == b.strides;
}

using Sharing = std::unordered_map<const program::Storage*, std::vector<Value*>>;

// Tied weights are one piece of memory.
Sharing bind_tied_weights(const Program& program, Aliases& aliases) {
  Sharing sharing;
  for (const InputSpec& input : program.inputs) {
    if (!input.value || !input.value->weight || !input.value->weight->storage) continue;
    std::vector<Value*>& others = sharing[input.value->weight->storage];
    for (Value* other : others) {
      if (!same_elements(*other->weight, *input.value->weight)) continue;
      aliases.bind(input.value, aliases.of(other));
      break;
    }
    others.push_back(input.value);
  }
  return sharing;
}

// The bytes from the first element to the last.
std::pair<std::int64_t, std::int64_t> extent(const Weight& weight) {
  std::int64_t last = weight.offset;
  for (std::size_t i = 0; i < weight.shape.size(); ++i) {
    if (weight.shape[i] == 0) return {weight.offset, weight.offset};
    last += (weight.shape[i] - 1) * weight.strides[i];
  }
  return {base::byte_size(weight.dtype, weight.offset), base::byte_size(weight.dtype, last + 1)};
}

// A write to a weight that other weights see a part of would have to reach them too.
void check_overlaps(const Sharing& sharing, const Aliases& aliases,
                    std::vector<base::Diagnostic>& diagnostics) {
  for (const auto& [storage, values] : sharing) {
    for (const Value* value : values) {
      const Call* write = aliases.write_to(value);
      if (!write) continue;
      for (const Value* other : values) {
        if (same_elements(*value->weight, *other->weight)) continue;
        const auto [start, end] = extent(*value->weight);
        const auto [other_start, other_end] = extent(*other->weight);
        if (start >= other_end || other_start >= end) continue;
        diagnostics.push_back(diagnostic_at(*write, "SX1706",
                                            "the write to '" + value->weight->name +
                                                "' also changes '" + other->weight->name +
                                                "', which shares a part of its memory",
                                            "give the two memory of their own"));
      }
    }
  }
}

bool listed(const Program& program, const OutputSpec& wanted) {
  return std::any_of(program.outputs.begin(), program.outputs.end(), [&](const OutputSpec& each) {
    return each.kind == wanted.kind && each.target == wanted.target;
  });
}

void note_constant(Program& program, const InputSpec& input, const Call& write) {
  base::Diagnostic note =
      diagnostic_at(write, "SX1707",
                    "the program writes to the constant tensor '" + input.target +
                        "'; the model starts every run from its captured elements",
                    "register the tensor as a buffer to have its new elements as an output");
  note.severity = base::Severity::kWarning;
  program.notes.push_back(std::move(note));
}

// What may have been mutated, depending on data, is unchanged in the next run of the model; a
// caller who passed it sees no difference either.
void report_possible_write(Program& program, const InputSpec& input, const Call& write,
                           std::vector<base::Diagnostic>& diagnostics) {
  base::Diagnostic diagnostic =
      diagnostic_at(write, "SX1708",
                    write.schema->qualified() + " writes to what may be '" +
                        (input.kind == InputKind::kUser ? input.value->name : input.target) +
                        "', depending on data, which the model leaves as it is",
                    "write to a clone of it");
  if (input.kind != InputKind::kUser) return diagnostics.push_back(std::move(diagnostic));
  diagnostic.severity = base::Severity::kWarning;
  program.notes.push_back(std::move(diagnostic));
}

// What the program leaves in its inputs and buffers becomes outputs.
void add_mutated(Program& program, Aliases& aliases, std::vector<base::Diagnostic>& diagnostics) {
  for (const InputSpec& input : program.inputs) {
    if (!input.value) continue;
    if (const Call* possible_write = aliases.possible_write_to(input.value))
      report_possible_write(program, input, *possible_write, diagnostics);
    const Call* write = aliases.write_to(input.value);
    if (!write) continue;
    OutputSpec output;
    if (input.kind == InputKind::kUser) {
      output.kind = OutputKind::kInputMutation;
      output.target = input.value->name;
    } else if (input.kind == InputKind::kConstant) {
      note_constant(program, input, *write);
      continue;
    } else {
      output.kind = OutputKind::kBufferMutation;
      output.target = input.target;
    }
    if (listed(program, output)) continue;
    output.value = aliases.content(input.value);
    program.graph->outputs.push_back(output.value);
    program.outputs.push_back(std::move(output));
  }
}

// Programs that PyTorch made functional name their mutations first; here they come last, whoever
// found them.
void order_outputs(Program& program) {
  const auto returned = [](const OutputSpec& output) {
    return output.kind != OutputKind::kBufferMutation && output.kind != OutputKind::kInputMutation;
  };
  if (std::is_partitioned(program.outputs.begin(), program.outputs.end(), returned)) return;
  std::stable_partition(program.outputs.begin(), program.outputs.end(), returned);
  program.graph->outputs.clear();
  for (const OutputSpec& output : program.outputs) program.graph->outputs.push_back(output.value);
}

}  // namespace

void functionalize(Program& program) {
  program::require_settled(program);
  order_outputs(program);
  inline_wrappers(program, *program.graph);
  expand_vectorized_regions(program, *program.graph);
  expand_lists(program, *program.graph);
  place_strided_reads(*program.graph);
  Session session(program);
  if (!writes(session, *program.graph)) return;

  FunctionalGraph graph(session, *program.graph);
  Aliases& aliases = graph.aliases();
  const Sharing sharing = bind_tied_weights(program, aliases);
  Rewriter(graph).run();
  for (OutputSpec& output : program.outputs) graph.read_in(output.value);
  add_mutated(program, aliases, session.diagnostics);
  check_overlaps(sharing, aliases, session.diagnostics);
  if (!session.diagnostics.empty()) throw base::Error(std::move(session.diagnostics));
  graph.finish();
  drop_dead_calls(*program.graph);
}

}  // namespace sardonyx::functionalize
