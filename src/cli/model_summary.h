// What an ONNX model is, for people and for scripts.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "onnx/graph/ir.h"

namespace sardonyx::cli {

// Operators with how many nodes there are, in the main graph and its bodies, the most first.
std::vector<std::pair<std::string, std::int64_t>> operators_of(const onnx::Model& model);
// Opsets, inputs and outputs, dynamic dims, weights by type, operators, functions, and modules down
// to `depth`.
std::string summary_text(const onnx::Model& model, int depth);
// The same, all of it, as members of a JSON object.
std::string summary_json(const onnx::Model& model);

}  // namespace sardonyx::cli
