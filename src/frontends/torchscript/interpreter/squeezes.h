// squeeze() of axes that may be 1 or not, as sizes decide: the rank of its result differs.
#pragma once

#include <optional>

#include "frontends/torchscript/recording/graph_recorder.h"
#include "frontends/torchscript/recording/size_assumptions.h"

namespace sardonyx::torchscript {

// Nothing where the call is another one, or the sizes of all axes are known, which the operator's
// own rule knows. Throws SizeDecides where the statement has to be followed for either answer.
std::optional<AbstractValue> squeeze(GraphRecorder& recorder, SizeAssumptions& sizes,
                                     const Operands& operands);

}  // namespace sardonyx::torchscript
