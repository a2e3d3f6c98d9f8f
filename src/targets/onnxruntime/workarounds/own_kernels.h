// What a provider has kernels for at the opset of a model.
#pragma once

#include "onnx/gen/op.h"
#include "targets/lowering.h"

namespace sardonyx::targets {

// Whether the provider has the operator at the opset, in any type: some have it for older ones
// alone.
bool has_own_kernel(const Lowering& onnx, onnx::Op op);

}  // namespace sardonyx::targets
