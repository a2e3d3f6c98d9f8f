// squeeze_(), unsqueeze_(), t_(), transpose_() and the like: the tensor keeps its elements and has
// other sizes, for everyone who holds it.
#pragma once

#include <optional>

#include "frontends/torchscript/archive/archive.h"
#include "frontends/torchscript/recording/call_stack.h"
#include "frontends/torchscript/recording/graph_recorder.h"

namespace sardonyx::torchscript {

// Nothing for other calls.
std::optional<AbstractValue> change_geometry(GraphRecorder& recorder, CallStack& stack,
                                             const AbstractValue& root, const Operands& operands);

}  // namespace sardonyx::torchscript
