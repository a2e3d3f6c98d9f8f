// Floating types below 32 bits: bit patterns to values and back.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace sardonyx::kernels {

inline bool is_float8(base::DType dtype) {
  return base::is_floating(dtype) && base::bit_width(dtype) == 8;
}
// float16, bfloat16, every float8, float6 and float4. The bits stand in the low end of the word.
float decode_small_float(base::DType dtype, std::uint32_t bits);
// Whether PyTorch converts what is too large to the largest number, as ONNX's Cast does unless told
// otherwise, and not to infinity or NaN.
constexpr bool saturates(base::DType dtype) {
  return dtype == base::DType::kFloat8E4M3FN || dtype == base::DType::kFloat8E8M0;
}
// Rounds to nearest, ties to even. Values beyond the largest become infinity, NaN where the type
// has no infinity, and the largest where it has neither, as PyTorch converts numbers of a
// program, or refuses to.
std::uint32_t encode_small_float(base::DType dtype, float value);

}  // namespace sardonyx::kernels
