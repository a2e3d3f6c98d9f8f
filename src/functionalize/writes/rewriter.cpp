#include "functionalize/writes/rewriter.h"

#include <algorithm>
#include <utility>

#include "functionalize/views/refusal.h"

namespace sardonyx::functionalize {

const OperatorRules& Session::rules_of(const program::Schema& schema) {
  const auto [place, is_new] = rules.try_emplace(&schema);
  if (is_new) place->second = {view_family(schema), write_rule(schema)};
  return place->second;
}

void Rewriter::run() {
  calls_.reserve(graph_.calls.size() + 16);
  for (Call* call : graph_.calls) {
    try {
      visit(*call);
    } catch (const base::Error& error) {
      for (const base::Diagnostic& diagnostic : error.diagnostics())
        session_.diagnostics.push_back(diagnostic);
    }
  }
  for (Argument& output : graph_.outputs) read_in(output);
}

void Rewriter::finish() { graph_.calls = std::move(calls_); }

void Rewriter::read_in(Argument& argument) {
  if (!aliases_.any_changed()) return;
  argument.each_value([&](Value*& value) { value = aliases_.read(value); });
}

Argument Rewriter::current(const Argument& argument) {
  Argument result = argument;
  read_in(result);
  return result;
}

void Rewriter::visit(Call& call) {
  const OperatorRules& rules = session_.rules_of(*call.schema);
  if (rules.write.kind != WriteKind::kNone) return rewrite(call, rules);
  if (const auto region = program::region_of(call)) return visit_bodies(call, *region);
  if (rules.view != ViewFamily::kNone) return register_views(call, rules.view);
  for (Argument& argument : call.arguments) read_in(argument);
  calls_.push_back(&call);
}

void Rewriter::register_views(Call& call, ViewFamily family) {
  struct Found {
    std::uint32_t output;
    ViewKind kind;
    Alias* parent;
  };
  std::vector<Found> found;
  for (std::uint32_t i = 0; i < call.outputs.size(); ++i) {
    const ViewKind kind = view_kind(call, family, i);
    if (kind == ViewKind::kFresh) continue;
    found.push_back({i, kind, aliases_.of(viewed(call, family, i))});
  }
  for (Argument& argument : call.arguments) read_in(argument);
  for (Found& each : found) {
    if (each.kind == ViewKind::kStrided) each.kind = place_strided(call, each.parent);
  }
  calls_.push_back(&call);
  for (const Found& each : found) {
    Value* output = call.outputs[each.output];
    if (each.kind == ViewKind::kSame) {
      aliases_.bind(output, each.parent);
    } else {
      aliases_.add_view(output, each.parent, call, each.output, each.kind);
    }
  }
}

// as_strided counts from the start of the memory, whatever view it is called on: its parent is the
// whole, when that lies in memory row by row.
ViewKind Rewriter::place_strided(Call& call, Alias*& parent) {
  Alias* whole = parent->memory->ahead.front();
  const program::Weight* weight = whole->like->weight;
  const bool plain = is_contiguous(*whole->like) && (!weight || weight->offset == 0);
  if (whole == parent) return plain ? ViewKind::kStrided : ViewKind::kUnknown;
  if (!plain || !call.has("storage_offset")) return ViewKind::kUnknown;
  parent = whole;
  call.arguments.front() = aliases_.current(whole);
  return ViewKind::kStrided;
}

void Rewriter::rewrite(Call& call, const OperatorRules& rules) {
  switch (rules.write.kind) {
    case WriteKind::kInPlace:
      return in_place(call, rules.write);
    case WriteKind::kFill:
      return fill(call);
    case WriteKind::kFillDiagonal:
      return fill_diagonal(call);
    case WriteKind::kCopy:
      return copy(call);
    case WriteKind::kNothing:
      return nothing(call);
    case WriteKind::kResize:
      return resize(call);
    case WriteKind::kReplace:
      return replace(call);
    case WriteKind::kMetadata:
      return metadata(call, rules.write);
    case WriteKind::kOut:
      return out(call, rules.write);
    case WriteKind::kForeach:
      return foreach (call, rules.write);
    case WriteKind::kFunctional:
      return functional(call, rules.write);
    case WriteKind::kBatchNorm:
      return batch_norm(call);
    case WriteKind::kNone:
    case WriteKind::kNoForm:
      break;
  }
  refuse_call(call, "SX1701",
              call.schema->qualified() +
                  " writes to its arguments, and no form of it is known that "
                  "returns the new values instead",
              "register a functional form of the operator and call that");
}

}  // namespace sardonyx::functionalize
