// What a model costs to run: multiply-adds and bytes, by operator and by module.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "onnx/graph/ir.h"

namespace sardonyx::cli {

// Sizes of dynamic dimensions by name.
using DimSizes = std::map<std::string, std::int64_t>;

// Dimensions that `sizes` does not name are 1. The types of the model are inferred.
// Throws SX1001 for a name that no input has.
std::string cost_text(onnx::Model& model, const DimSizes& sizes, int depth);
// The same as an object of JSON.
std::string cost_json(onnx::Model& model, const DimSizes& sizes);

}  // namespace sardonyx::cli
