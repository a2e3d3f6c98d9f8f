// Constants of a model that another one, which was written, has under other names.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "onnx/graph/ir.h"

namespace sardonyx::onnx {

// Names of weights in a model and in another one. Tied weights have several in each.
using WeightNames = std::vector<std::pair<std::string, std::string>>;

// Replaces what was made of these weights by constants of the source with the same dtype, dims and
// elements, and returns how many bytes these have; those below `least` stay. The source's elements
// are in memory, or mapped from a file; the model's are computed piece by piece.
std::int64_t take_equal_constants(Model& model, const Model& source, const WeightNames& names,
                                  std::int64_t least);

}  // namespace sardonyx::onnx
