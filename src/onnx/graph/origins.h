// Which weights of the program a weight was made of.
#pragma once

#include <vector>

#include "onnx/graph/ir.h"

namespace sardonyx::onnx {

// The weights that a value was made of, each once, in the order in which they are found; the value
// itself where it was made of none.
std::vector<const ValueInfo*> origins_of(const ValueInfo& value);

}  // namespace sardonyx::onnx
