#include "functionalize/views/strided_reads.h"

#include <algorithm>
#include <unordered_map>

#include "functionalize/views/refusal.h"
#include "functionalize/views/views.h"

namespace sardonyx::functionalize {
namespace {

using program::Argument;
using program::Call;
using program::Graph;
using program::Value;
using symbolic::Expr;

// Where a view begins in the memory of what it is a view of, in elements.
struct Place {
  Value* whole = nullptr;
  Expr start;  // unknown where the view's elements are not those of the whole
};

bool is_strided(const Call& call) {
  const std::string_view name = call.schema->base_name();
  return call.schema->space() == "aten" && (name == "as_strided" || name == "as_strided_copy");
}

Expr stride(const Value& value, std::size_t dim) {
  if (!value.strides.empty()) return value.strides[dim];
  Expr elements = 1;
  // Strides of an empty tensor are those of one with sizes of 1 instead.
  for (std::size_t i = dim + 1; i < value.rank(); ++i) {
    elements = elements * (value.shape[i].is(0) ? Expr(1) : value.shape[i]);
  }
  return elements;
}

// The index counted from the front and kept within the dimension, as slice does it.
Expr from_front(const Argument& index, Expr size) {
  if (index.is_none()) return 0;
  const Expr* given = index.get<Expr>();
  if (!given || !given->known()) return {};
  const symbolic::Range range = symbolic::range(*given);
  if (range.low >= 0) return symbolic::min(*given, size);
  if (range.high < 0) return symbolic::max(*given + size, 0);
  return {};
}

// How much later than its argument a view begins; unknown where it is not made of its elements.
Expr step_into(const Call& call, ViewKind kind, const Value& self, std::size_t output) {
  const auto size = [&](std::int64_t dim) { return self.shape[static_cast<std::size_t>(dim)]; };
  const auto at = [&](std::int64_t dim) { return stride(self, static_cast<std::size_t>(dim)); };
  switch (kind) {
    case ViewKind::kSame:
    case ViewKind::kReshape:
    case ViewKind::kPermute:
    case ViewKind::kExpand:
    case ViewKind::kWindows:
      return 0;
    case ViewKind::kSection: {
      const auto section = section_of(call, output);
      if (!section) return {};
      const Expr start = from_front(section->start, size(section->dim));
      return start.known() ? start * at(section->dim) : start;
    }
    case ViewKind::kSelect: {
      const std::int64_t dim = dimension(call.argument("dim"), self.rank());
      const bool one = call.schema->base_name() == "select";
      const Argument index = one ? call.argument("index") : Expr(static_cast<std::int64_t>(output));
      const Expr start = from_front(index, size(dim));
      return start.known() ? start * at(dim) : start;
    }
    case ViewKind::kDiagonal: {
      const Expr* offset = call.argument("offset").get<Expr>();
      if (!offset || !offset->is_constant()) return {};
      const bool right = offset->value() >= 0;
      const std::int64_t dim = dimension(call.argument(right ? "dim2" : "dim1"), self.rank());
      return (right ? *offset : Expr(-offset->value())) * at(dim);
    }
    default:
      return {};
  }
}

bool is_recast(ViewKind kind) {
  return kind == ViewKind::kPairs || kind == ViewKind::kComplex || kind == ViewKind::kBits ||
         kind == ViewKind::kConjugate || kind == ViewKind::kNegative;
}

class Places {
 public:
  void visit(Call& call) {
    if (is_strided(call)) place(call);
    const ViewFamily family = view_family(*call.schema);
    if (family == ViewFamily::kNone) return;
    for (std::size_t i = 0; i < call.outputs.size(); ++i) {
      const ViewKind kind = view_kind(call, family, i);
      if (kind == ViewKind::kFresh) continue;
      known_[call.outputs[i]] = place_of_view(call, kind, *viewed(call, family, i), i);
    }
  }

 private:
  Place of(Value* value) const {
    const auto found = known_.find(value);
    return found == known_.end() ? Place{value, 0} : found->second;
  }

  Place place_of_view(const Call& call, ViewKind kind, Value& self, std::size_t output) const {
    const Place place = of(&self);
    if (kind == ViewKind::kStrided)
      return {place.whole, *call.argument("storage_offset").get<Expr>()};
    // Seen as other numbers, the whole is still a whole.
    if (is_recast(kind) && place.whole == &self) return {call.outputs[output], 0};
    const Expr step = step_into(call, kind, self, output);
    return {place.whole, place.start.known() && step.known() ? place.start + step : Expr()};
  }

  void place(Call& call) {
    Argument& self = call.arguments.front();
    Value* const* value = self.get<Value*>();
    if (!value || !*value) return;
    const Place place = of(*value);
    Argument& offset = call.arguments[*call.schema->find("storage_offset")];
    if (offset.is_none()) {
      offset = place.start;
    } else if (const program::Weight* weight = place.whole->weight) {
      // A weight that is a part of a storage is all that the model has of it.
      offset = *offset.get<Expr>() - weight->offset;
    }
    const Expr start = *offset.get<Expr>();
    if (!start.known() || symbolic::range(start).high < 0 || !place.start.known()) {
      refuse_call(call, "SX1301",
                  "as_strided of '" + (*value)->name + "', whose place in its memory is not known",
                  "call contiguous() or clone() before as_strided()");
    }
    self = place.whole;
  }

  std::unordered_map<const Value*, Place> known_;
};

}  // namespace

void place_strided_reads(Graph& graph) {
  for (Call* call : graph.calls) {
    for (const Argument& argument : call->arguments) {
      if (Graph* const* body = argument.get<Graph*>(); body && *body) place_strided_reads(**body);
    }
  }
  const auto strided = [](const Call* call) { return is_strided(*call); };
  if (std::none_of(graph.calls.begin(), graph.calls.end(), strided)) return;
  Places places;
  for (Call* call : graph.calls) places.visit(*call);
}

}  // namespace sardonyx::functionalize
