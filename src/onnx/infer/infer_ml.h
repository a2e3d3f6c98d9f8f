// Types of what the operators of ai.onnx.ml give: trees, linear models, encoders.
#pragma once

#include "onnx/graph/ir.h"

namespace sardonyx::onnx {

// Whether the node is one of them, of which more is known than its name.
bool is_ml_operator(const Node* node);
// Sets the outputs' dtype, rank and shape as far as they follow from the inputs and attributes;
// what a node of these does not have is left unknown.
void infer_ml(Node* node);

}  // namespace sardonyx::onnx
