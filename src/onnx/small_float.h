// Floating types below 32 bits: bit patterns to values and back.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace sardonyx::onnx {

// float16, bfloat16, every float8 and float4. The bits stand in the low end of the word.
float decode_small_float(base::DType dtype, std::uint32_t bits);
// Rounds to nearest, ties to even. Values beyond the largest become infinity, NaN where the type
// has no infinity, and the largest where it has neither: PyTorch's conversions, which do not
// saturate.
std::uint32_t encode_small_float(base::DType dtype, float value);

}  // namespace sardonyx::onnx
