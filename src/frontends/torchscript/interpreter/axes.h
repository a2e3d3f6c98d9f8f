// Data-dependent axes: a tensor has few, so that the call is recorded for each of them, in
// branches.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "frontends/torchscript/recording/graph_recorder.h"

namespace sardonyx::torchscript {

// The result of one of two functions, chosen by data.
using Either = std::function<AbstractValue(const AbstractValue& condition,
                                           const std::function<AbstractValue()>& first,
                                           const std::function<AbstractValue()>& second)>;

// Nothing where all axes are known.
std::optional<AbstractValue> call_for_each_axis(GraphRecorder& recorder, const Either& either,
                                                const program::Schema& schema,
                                                std::vector<program::Argument> arguments);

}  // namespace sardonyx::torchscript
