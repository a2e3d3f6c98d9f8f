// SequenceMap for opsets that lack it.
#pragma once

#include <optional>
#include <span>

#include "targets/lowering.h"

namespace sardonyx::targets {

// A Loop over the elements of the first sequence, which takes the nodes of the body. Nothing where
// the type of a result is not known. Opset 17.
std::optional<Values> loop_over_sequences(Lowering& onnx, const onnx::Node* map,
                                          std::span<const Value> inputs);

}  // namespace sardonyx::targets
