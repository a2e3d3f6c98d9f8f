// Matrices transposed in registers, a square of 16 bytes by 16 bytes' worth of elements at a time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sardonyx::kernels {

// to[row * pitch + column] = from[column * stride + row] for elements of 1, 2, 4 or 8 bytes. Bytes
// may lie unaligned; those that are written do not overlap those that are read.
void transpose(const std::byte* from, std::int64_t stride, std::int64_t rows, std::int64_t columns,
               std::size_t width, std::byte* to, std::int64_t pitch);

}  // namespace sardonyx::kernels
