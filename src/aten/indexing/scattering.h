// The operands of ScatterElements, which wants an index and updates of one shape.
#pragma once

#include <cstdint>
#include <string_view>

#include "aten/call.h"

namespace sardonyx::aten {

// What a text such as "amax", "max" or "mean" asks for, where elements come together.
struct Combining {
  std::string_view scatter;  // what ScatterElements calls it; a mean is a sum at first
  double neutral;            // changes nothing
};
Combining combining_of(const Call& call);  // of the argument `reduce`

// As much of `source` as there are indices: PyTorch takes a larger one.
Value cut_to(Emit& onnx, Value source, Value index);

// ScatterElements with a reduction ("add", "mul", "max", "min"). As in PyTorch, a NaN among the
// elements of a maximum or minimum is the result, of which ONNX says nothing.
Value scatter_combined(Emit& onnx, Value into, Value index, Value updates, std::int64_t axis,
                       std::string_view reduction);

// The index of one axis (0-d or 1-d), spread over every element of `like`.
Value spread_index(Emit& onnx, Value index, Value like, std::int64_t axis);

}  // namespace sardonyx::aten
