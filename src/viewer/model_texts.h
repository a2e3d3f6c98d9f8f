// What parts of a model are called where people read of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "onnx/graph/ir.h"

namespace sardonyx::viewer {

// "float32[batch, 3]"; sizes that nothing is known of are `?`.
std::string type_text(const onnx::ValueInfo& value);
// "97.8 MB"
std::string size_text(std::int64_t bytes);
// "Conv", "com.microsoft::FusedMatMul"
std::string operator_name(const onnx::Node& node);
// The initializers that are written.
std::vector<const onnx::ValueInfo*> weights_of(const onnx::Model& model);
// The names of sizes in inputs and outputs, in order.
std::vector<std::string> dynamic_dims(const onnx::Model& model);

}  // namespace sardonyx::viewer
