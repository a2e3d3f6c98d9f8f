// From the opset of a third-party model to the canonical IR.
#pragma once

#include "onnx/graph/ir.h"
#include "targets/unsupported.h"

namespace sardonyx::targets {

// Upgrades every node of the main graph and its bodies to the newest opset, in place. Model-local
// functions stay as they are, unless `inline_functions`: what they do stands where they are called
// then, and they are gone. Collects all failures and throws them together as Unsupported:
// SX1504 for what the newest opset cannot say any more. The model is not to be used then.
void raise(onnx::Model& model, bool inline_functions = false);

}  // namespace sardonyx::targets
