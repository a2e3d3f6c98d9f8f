// Whether each row of a mask keeps a key, as far as places decide it.
#pragma once

#include "onnx/graph/ir.h"

namespace sardonyx::passes {

// Whether the truth is `wanted` for a key at least of each row: the first, or that which stands
// where the query does. Its last two axes are queries and keys.
bool keeps_a_key(const onnx::ValueInfo* truth, bool wanted);

}  // namespace sardonyx::passes
