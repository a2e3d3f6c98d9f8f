// Values that are None or something, as data decide: Optional[Tensor] after a branch, say. A truth
// of data tells which, and what stands beside it where it is None is read by nothing.
#pragma once

#include "frontends/torchscript/body.h"

namespace sardonyx::torchscript {

Datum of_maybe(Datum present, Datum content);
const Datum& presence(const Datum& maybe);
const Datum& content(const Datum& maybe);

// Whether what is one of these has to be such a value.
bool needs_maybe(const Datum& one, const Datum& other);

// The datum as such a value, in the graph that is followed; None stands beside what `like` is,
// which `from` made.
Datum as_maybe(Follower& follower, const Datum& datum, const Datum& like, const Body& from);
// The same in a body.
Datum as_maybe(Follower& follower, const Datum& datum, const Datum& like, const Body& from,
               Body& body);

}  // namespace sardonyx::torchscript
