// The kernels of dequantize.cpp that are compiled once for each set of instructions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sardonyx::kernels {

// Bits [shift, shift + bits) of each 32-bit word, as numbers.
void codes_of_words(const std::byte* words, int shift, int bits, std::size_t count, float* values);
// Both codes of 4 bits of each byte, the lower one first.
void codes_of_bytes(const std::byte* bytes, std::size_t count, float* values);

// values[i] = (values[i] - zeros[i]) * scales[i] + offsets[i]; zeros and offsets may be null.
void apply_scales(float* values, const float* scales, const float* zeros, const float* offsets,
                  std::size_t count);

}  // namespace sardonyx::kernels
