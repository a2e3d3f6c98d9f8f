// From the canonical IR to what a target takes.
#pragma once

#include "onnx/graph/ir.h"
#include "targets/lowering.h"
#include "targets/unsupported.h"

namespace sardonyx::targets {

// Lowers every node of a model in the canonical IR, in place; model-local functions are as their
// authors wrote them, and stay. Collects all failures and throws them together as Unsupported:
// SX1504 for what the opset cannot say, SX1505 for what the runtime has no kernel for. The model is
// not to be used then.
void lower(onnx::Model& model, const Target& target, const LowerOptions& options);

}  // namespace sardonyx::targets
