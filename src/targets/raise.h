// From the opset of a model that somebody else wrote to the core dialect.
#pragma once

#include "onnx/graph/ir.h"

namespace sardonyx::targets {

// Brings every node of the main graph and its bodies to its newest form, in place; model-local
// functions stay as they are. Collects all failures and throws them together as one base::Error:
// SX1504 for what the newest opset cannot say any more. The model is not to be used then.
void raise(onnx::Model& model);

}  // namespace sardonyx::targets
