// What operators that compute nothing do to the rows of a tensor: which one stands where.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "onnx/graph/ir.h"

namespace sardonyx::passes {

// From `source` to a value of as many samples (the first axis, whose size may vary), of which every
// other size is known. A unit is a run of elements that stays one the whole way.
struct Movement {
  onnx::ValueInfo* source = nullptr;
  std::vector<onnx::Node*> nodes;    // in the order in which they are computed
  std::int64_t unit = 0;             // its elements
  std::vector<std::int64_t> places;  // of a sample's units in the source, in the value's order
};

// Reshape, Transpose, Slice, Split, Concat and Gather by constants, within samples.
bool moves_rows(const onnx::Node* node);

// From as far back as it goes; nothing where the value is put together of several, or of so many
// units that a list of them would be no saving.
std::optional<Movement> movement_to(onnx::ValueInfo* value);

// The sizes of a sample; nothing where one of them is not known.
std::optional<std::vector<std::int64_t>> sizes_of_sample(const onnx::ValueInfo* value);

// Their product, where they are known.
std::int64_t elements_of_sample(const onnx::ValueInfo* value);

}  // namespace sardonyx::passes
