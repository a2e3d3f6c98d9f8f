// The kernels of block_quantizer.cpp that are compiled once for each set of instructions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/block_quantizer.h"

namespace sardonyx::kernels {

constexpr std::size_t kLargestBlock = 256;  // weights that share a scale

// The scale and zero point of each of `blocks` whole blocks, not rounded to what is stored.
void choose_scales(const float* weights, std::int64_t blocks, const BlockForm& form, float* scales,
                   std::uint8_t* zero_points);
CodingError code_weights(const float* weights, std::int64_t blocks, const BlockForm& form,
                         const float* scales, const std::uint8_t* zero_points, std::uint8_t* codes);

void flip_bytes(std::span<const std::uint8_t> codes, std::uint8_t flip, std::byte* to);
// Of an even number of codes below 16.
void pack_pairs(std::span<const std::uint8_t> codes, std::uint8_t flip, std::byte* to);

}  // namespace sardonyx::kernels
