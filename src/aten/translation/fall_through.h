// Operators without a translation, kept as nodes of their own.
#pragma once

#include "aten/call.h"
#include "aten/translation/translate.h"

namespace sardonyx::aten {

// The call as one node: tensors and symbolic sizes become its inputs, everything else that is given
// its attributes, by the names of the schema. Throws SX1301 for what neither can hold.
Outputs fall_through(const Call& call, Emit& onnx, UnsupportedOps how);

}  // namespace sardonyx::aten
