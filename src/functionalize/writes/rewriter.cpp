#include "functionalize/writes/rewriter.h"

#include "functionalize/writes/bodies.h"
#include "program/ir/regions.h"

namespace sardonyx::functionalize {

void Rewriter::run() {
  for (Call* call : graph_.graph().calls) {
    try {
      visit(*call);
    } catch (const base::Error& error) {
      for (const base::Diagnostic& diagnostic : error.diagnostics())
        graph_.session().diagnostics.push_back(diagnostic);
    }
  }
  for (Argument& output : graph_.graph().outputs) graph_.read_in(output);
}

void Rewriter::visit(Call& call) {
  const OperatorRules& rules = graph_.session().rules_of(*call.schema);
  if (rules.write.kind != WriteKind::kNone) return writes_.rewrite(call, rules.write);
  if (const auto region = program::region_of(call)) {
    return BodyRewriter(graph_, call, *region).run([](FunctionalGraph& body) {
      Rewriter(body).run();
    });
  }
  if (rules.view != ViewFamily::kNone) return register_views(call, rules.view);
  for (Argument& argument : call.arguments) graph_.read_in(argument);
  graph_.append(call);
}

void Rewriter::register_views(Call& call, ViewFamily family) {
  Aliases& aliases = graph_.aliases();
  struct Found {
    std::uint32_t output;
    ViewKind kind;
    Alias* parent;
  };
  std::vector<Found> found;
  for (std::uint32_t i = 0; i < call.outputs.size(); ++i) {
    const ViewKind kind = view_kind(call, family, i);
    if (kind == ViewKind::kFresh) continue;
    found.push_back({i, kind, aliases.of(viewed(call, family, i))});
  }
  for (Argument& argument : call.arguments) graph_.read_in(argument);
  for (Found& each : found) {
    if (each.kind == ViewKind::kStrided) each.kind = graph_.place_strided(call, each.parent);
  }
  graph_.append(call);
  for (const Found& each : found) {
    Value* output = call.outputs[each.output];
    if (each.kind == ViewKind::kSame) {
      aliases.bind(output, each.parent);
    } else {
      aliases.add_view(output, each.parent, call, each.output, each.kind);
    }
  }
}

}  // namespace sardonyx::functionalize
