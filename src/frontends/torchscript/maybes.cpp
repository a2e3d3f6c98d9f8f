#include "frontends/torchscript/maybes.h"

#include <utility>

namespace sardonyx::torchscript {

using Kind = Datum::Kind;

Datum of_maybe(Datum present, Datum content) {
  return Datum::of_items(Kind::kMaybe, {std::move(present), std::move(content)});
}

const Datum& presence(const Datum& maybe) { return maybe.held->items.at(0); }

const Datum& content(const Datum& maybe) { return maybe.held->items.at(1); }

bool needs_maybe(const Datum& one, const Datum& other) {
  return one.kind == Kind::kMaybe || other.kind == Kind::kMaybe || one.is_none() != other.is_none();
}

Datum as_maybe(Follower& follower, const Datum& datum, const Datum& like, const Body& from) {
  if (datum.kind == Kind::kMaybe) return datum;
  if (!datum.is_none()) return of_maybe(Datum::of_bool(true), datum);
  const Datum& other = like.kind == Kind::kMaybe ? content(like) : like;
  return of_maybe(Datum::of_bool(false), stand_in(follower, other, from));
}

Datum as_maybe(Follower& follower, const Datum& datum, const Datum& like, const Body& from,
               Body& body) {
  const auto inside = body.inside();
  return as_maybe(follower, datum, like, from);
}

}  // namespace sardonyx::torchscript
