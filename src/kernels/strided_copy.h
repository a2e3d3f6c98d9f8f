// Elements that lie at strides, copied to where they lie one after the other: in tiles, so that
// both sides use every line of the cache that they touch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sardonyx::kernels {

struct Axis {
  std::int64_t size;
  std::int64_t stride;  // in elements
};

// The axes without those of size 1, neighbors that lie one after the other taken as one.
std::vector<Axis> merged_axes(std::span<const std::int64_t> dims,
                              std::span<const std::int64_t> strides);

// rows x columns elements of 1, 2, 4, 8 or 16 bytes, row-major in `to`, whose rows are `pitch`
// elements apart. Bytes may lie unaligned.
void copy_rectangle(const std::byte* from, Axis rows, Axis columns, std::size_t width,
                    std::byte* to, std::int64_t pitch);

// The offset of element `number` in row-major order.
std::int64_t offset_of(std::span<const Axis> axes, std::int64_t number);

// Elements [first, first + count) of 2, 4 or 6 bits in row-major order, packed, the first in the
// lowest bits; strides count elements.
void copy_packed(const std::byte* from, std::span<const Axis> axes, int bits, std::int64_t first,
                 std::int64_t count, std::byte* to);

}  // namespace sardonyx::kernels
