// Giving a tensor another shape in a patch.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "onnx/graph/ir.h"
#include "rewriting/patch.h"

namespace sardonyx::passes {

// `x`, whose sizes are known, in this shape: itself, an Unsqueeze or Squeeze of it where that is
// all, or a Reshape. Sizes that stand in the same place are copied, one may follow from the others,
// and those of other axes of `x` are read off. Null where a size can only be computed; the patch
// then has to be given up.
onnx::ValueInfo* reshaped(rewriting::Patch& patch, onnx::ValueInfo* x, const onnx::Shape& to,
                          std::string_view name);

// For each axis of `joined`, how many of `parted`, one after the other, multiply to it; nothing
// where they do not.
std::optional<std::vector<std::size_t>> axes_in_each(const onnx::Shape& joined,
                                                     const onnx::Shape& parted);

// Known and not 0 where it is constant: in a Reshape, 0 copies.
bool has_known_sizes(const onnx::ValueInfo* value);

}  // namespace sardonyx::passes
