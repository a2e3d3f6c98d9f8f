// Operators on complex tensors that the translator for real ones does too, when it is given parts.
#pragma once

#include <cstdint>
#include <string_view>

#include "aten/library.h"

namespace sardonyx::aten {

// The call's own translator for real tensors, run on the real or on the imaginary parts. Real
// operands that are data count as zeros in the imaginary run; indices, masks and sizes do not.
enum class Part : std::uint8_t { kReal, kImaginary };
Outputs on_parts(const Call& call, Emit& onnx, Part part);

}  // namespace sardonyx::aten
