// Data-dependent optionals, such as an Optional[Tensor] after a branch: a bool tensor that is true
// where there is a value, and the value, which nothing reads where it is None.
#pragma once

#include "frontends/torchscript/recording/body.h"

namespace sardonyx::torchscript {

AbstractValue of_optional(AbstractValue present, AbstractValue content);
const AbstractValue& presence(const AbstractValue& optional);
const AbstractValue& content(const AbstractValue& optional);

// Whether what is one of these has to be such a value.
bool needs_optional(const AbstractValue& one, const AbstractValue& other);

// The datum as such a value, in the graph that is followed; None stands beside what `like` is,
// which `from` made.
AbstractValue as_optional(GraphRecorder& recorder, const AbstractValue& datum,
                          const AbstractValue& like, const Body& from);
// The same in a body.
AbstractValue as_optional(GraphRecorder& recorder, const AbstractValue& datum,
                          const AbstractValue& like, const Body& from, Body& body);

}  // namespace sardonyx::torchscript
