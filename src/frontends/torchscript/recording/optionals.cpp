#include "frontends/torchscript/recording/optionals.h"

#include <utility>

namespace sardonyx::torchscript {

using Kind = AbstractValue::Kind;

AbstractValue of_optional(AbstractValue present, AbstractValue content) {
  return AbstractValue::of_items(Kind::kOptional, {std::move(present), std::move(content)});
}

const AbstractValue& presence(const AbstractValue& optional) { return optional.held->items.at(0); }

const AbstractValue& content(const AbstractValue& optional) { return optional.held->items.at(1); }

bool needs_optional(const AbstractValue& one, const AbstractValue& other) {
  return one.kind == Kind::kOptional || other.kind == Kind::kOptional ||
         one.is_none() != other.is_none();
}

AbstractValue as_optional(GraphRecorder& recorder, const AbstractValue& datum,
                          const AbstractValue& like, const Body& from) {
  if (datum.kind == Kind::kOptional) return datum;
  if (!datum.is_none()) return of_optional(AbstractValue::of_bool(true), datum);
  const AbstractValue& other = like.kind == Kind::kOptional ? content(like) : like;
  return of_optional(AbstractValue::of_bool(false), stand_in(recorder, other, from));
}

AbstractValue as_optional(GraphRecorder& recorder, const AbstractValue& datum,
                          const AbstractValue& like, const Body& from, Body& body) {
  const auto inside = body.inside();
  return as_optional(recorder, datum, like, from);
}

}  // namespace sardonyx::torchscript
