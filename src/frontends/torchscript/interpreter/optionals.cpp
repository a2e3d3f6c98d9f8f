#include "frontends/torchscript/interpreter/optionals.h"

#include <utility>

namespace sardonyx::torchscript {

using Kind = AbstractValue::Kind;

AbstractValue of_maybe(AbstractValue present, AbstractValue content) {
  return AbstractValue::of_items(Kind::kMaybe, {std::move(present), std::move(content)});
}

const AbstractValue& presence(const AbstractValue& maybe) { return maybe.held->items.at(0); }

const AbstractValue& content(const AbstractValue& maybe) { return maybe.held->items.at(1); }

bool needs_maybe(const AbstractValue& one, const AbstractValue& other) {
  return one.kind == Kind::kMaybe || other.kind == Kind::kMaybe || one.is_none() != other.is_none();
}

AbstractValue as_maybe(AbstractInterpreter& follower, const AbstractValue& datum,
                       const AbstractValue& like, const Body& from) {
  if (datum.kind == Kind::kMaybe) return datum;
  if (!datum.is_none()) return of_maybe(AbstractValue::of_bool(true), datum);
  const AbstractValue& other = like.kind == Kind::kMaybe ? content(like) : like;
  return of_maybe(AbstractValue::of_bool(false), stand_in(follower, other, from));
}

AbstractValue as_maybe(AbstractInterpreter& follower, const AbstractValue& datum,
                       const AbstractValue& like, const Body& from, Body& body) {
  const auto inside = body.inside();
  return as_maybe(follower, datum, like, from);
}

}  // namespace sardonyx::torchscript
