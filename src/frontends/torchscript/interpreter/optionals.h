// Values that are None or something, as data decide: Optional[Tensor] after a branch, say. A truth
// of data tells which, and what stands beside it where it is None is read by nothing.
#pragma once

#include "frontends/torchscript/interpreter/body.h"

namespace sardonyx::torchscript {

AbstractValue of_maybe(AbstractValue present, AbstractValue content);
const AbstractValue& presence(const AbstractValue& maybe);
const AbstractValue& content(const AbstractValue& maybe);

// Whether what is one of these has to be such a value.
bool needs_maybe(const AbstractValue& one, const AbstractValue& other);

// The datum as such a value, in the graph that is followed; None stands beside what `like` is,
// which `from` made.
AbstractValue as_maybe(AbstractInterpreter& follower, const AbstractValue& datum,
                       const AbstractValue& like, const Body& from);
// The same in a body.
AbstractValue as_maybe(AbstractInterpreter& follower, const AbstractValue& datum,
                       const AbstractValue& like, const Body& from, Body& body);

}  // namespace sardonyx::torchscript
