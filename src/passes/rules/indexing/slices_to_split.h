// Slices that lie side by side.
#pragma once

#include "onnx/graph/ir.h"

namespace sardonyx::passes {

// Whether the Slice and others take a tensor apart along an axis, with nothing left over.
bool is_part_of_split(onnx::Node* slice);

}  // namespace sardonyx::passes
