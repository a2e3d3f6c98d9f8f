// What an ONNX model is, for people and for scripts.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "onnx/graph/ir.h"

namespace sardonyx::cli {

// "float32[batch, 3]"; sizes that nothing is known of are `?`.
std::string type_text(const onnx::ValueInfo& value);
// "97.8 MB"
std::string size_text(std::int64_t bytes);
// "Conv", "com.microsoft::FusedMatMul"
std::string operator_name(const onnx::Node& node);
// Operators with how many nodes there are, in the main graph and its bodies, the most first.
std::vector<std::pair<std::string, std::int64_t>> operators_of(const onnx::Model& model);
// The initializers that are written.
std::vector<const onnx::ValueInfo*> weights_of(const onnx::Model& model);
// The names of sizes in inputs and outputs, in order.
std::vector<std::string> dynamic_dims(const onnx::Model& model);

// Opsets, inputs and outputs, dynamic dims, weights by type, operators, functions, and modules down
// to `depth`.
std::string summary_text(const onnx::Model& model, int depth);
// The same, all of it, as members of a JSON object.
std::string summary_json(const onnx::Model& model);

}  // namespace sardonyx::cli
