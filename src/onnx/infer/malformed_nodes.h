// Nodes of other producers' files that are none of their operators: inputs, outputs or attributes
// are missing, too many or of another kind.
#pragma once

#include <vector>

#include "onnx/infer/infer_model.h"

namespace sardonyx::onnx {

// Makes unknown operators of them, in bodies and functions too: what reads nodes by their operators
// may count on their inputs, outputs and attributes, and they stay for the runtime to refuse. A
// dispute for each.
std::vector<TypeConflict> set_incomplete_aside(Model& model);

}  // namespace sardonyx::onnx
