#include "program/ir/kept_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "program/ir/place.h"

namespace sardonyx::program {
namespace {

using symbolic::Expr;

bool may_be_one(Expr size) {
  return size.known() && !size.is_constant() && symbolic::range(size).low <= 1;
}

// Whether the call is asked to drop the dimension; all are where it names none.
bool drops(const Call& call, std::int64_t axis, std::int64_t rank) {
  if (!call.schema->find("dim")) return true;
  const auto is_it = [&](const Argument& named) {
    const Expr* dim = named.get<Expr>();
    return dim && (dim->is(axis) || dim->is(axis - rank));
  };
  const Argument& dim = call.argument("dim");
  const List* several = dim.get<List>();
  return several ? std::ranges::any_of(*several, is_it) : is_it(dim);
}

void note(const Call& call, std::vector<base::Diagnostic>& notes) {
  const std::string_view name = call.schema->base_name();
  if (name != "squeeze" && name != "squeeze_" && name != "squeeze_copy") return;
  const Value* self = tensor_of(call.arguments.front());
  if (!self) return;
  for (std::size_t axis = 0; axis < self->rank(); ++axis) {
    const Expr size = self->shape[axis];
    if (!may_be_one(size)) continue;
    const auto rank = static_cast<std::int64_t>(self->rank());
    if (!drops(call, static_cast<std::int64_t>(axis), rank)) continue;
    notes.push_back(diagnostic_at(
        call, "SX1313",
        fmt::format("squeeze of dimension {}, whose size {} is known at run time only: the model "
                    "keeps it, also where it is 1 and PyTorch would drop it",
                    axis, size.str()),
        "name the dimensions to drop, as in x.squeeze(-1), and none that varies"));
    notes.back().severity = base::Severity::kNote;
  }
}

void walk(const Graph& graph, std::vector<base::Diagnostic>& notes) {
  for (const Call* call : graph.calls) {
    note(*call, notes);
    for (const Argument& argument : call->arguments) {
      if (Graph* const* body = argument.get<Graph*>()) walk(**body, notes);
    }
  }
}

}  // namespace

std::vector<base::Diagnostic> notes_of_kept_sizes(const Program& program) {
  std::vector<base::Diagnostic> notes;
  if (program.graph != nullptr) walk(*program.graph, notes);
  return notes;
}

}  // namespace sardonyx::program
