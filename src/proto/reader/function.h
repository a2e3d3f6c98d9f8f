// Model-local functions from bytes.
#pragma once

#include <cstdint>
#include <string_view>

#include "onnx/graph/ir.h"

namespace sardonyx::proto {

// Adds the function of a serialized FunctionProto to the model, or finds it there. Where it imports
// another opset than `opset`, that of the model in the end, it becomes one of that, its operators
// being the same in both. Throws SX1153 where they are not, and where the model has another
// function of that name.
const onnx::Function& add_function(onnx::Model& model, std::string_view message,
                                   std::int64_t opset);

}  // namespace sardonyx::proto
