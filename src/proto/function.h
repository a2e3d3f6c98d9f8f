// Model-local functions from bytes.
#pragma once

#include <string_view>

#include "onnx/graph/ir.h"

namespace sardonyx::proto {

// Adds the function of a serialized FunctionProto to the model, or finds it there. Versions of
// ONNX's own operators that it imports become the model's where its operators are the same in both.
// Throws SX1153 where they are not, and where the model has another function of that name.
const onnx::Function& add_function(onnx::Model& model, std::string_view message);

}  // namespace sardonyx::proto
