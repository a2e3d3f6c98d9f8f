#include "kernels/transpose.h"

#include <algorithm>
#include <array>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/transpose.cpp"
#include <hwy/foreach_target.h>
// After the line above, which has this file compiled for one set of instructions after the other.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sardonyx::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// A tile is gathered in a buffer of its own and then copied to its place row by row. Without the
// buffer, rows that are a power of two apart would compete for the same few places of the cache.
// Sizes measured: with 256 bytes on either side, casts of transposed matrices take 0.65 to 0.77 of
// the CPU time that they take with 128.
constexpr std::int64_t kTileRows = 128;
constexpr std::int64_t kTileRowBytes = 256;

// The elements outside of the squares.
template <typename T>
HWY_INLINE void copy_elements(const T* from, std::int64_t stride, std::int64_t rows,
                              std::int64_t columns, T* to, std::int64_t pitch) {
  for (std::int64_t column = 0; column < columns; ++column)
    for (std::int64_t row = 0; row < rows; ++row)
      std::memcpy(static_cast<void*>(to + row * pitch + column),
                  static_cast<const void*>(from + column * stride + row), sizeof(T));
}

// Without vectors.
#if HWY_TARGET == HWY_SCALAR
template <typename T>
HWY_INLINE void transpose_square(const T* from, std::int64_t stride, T* to, std::int64_t pitch) {
  copy_elements(from, stride, 16 / sizeof(T), 16 / sizeof(T), to, pitch);
}
#else
// A square of as many rows and columns as 16 bytes have elements. Each step interleaves the first
// half of the vectors with the second, which rotates the bits of an element's (row, column) by one.
template <typename T>
HWY_INLINE void transpose_square(const T* HWY_RESTRICT from, std::int64_t stride,
                                 T* HWY_RESTRICT to, std::int64_t pitch) {
  constexpr std::size_t kSide = 16 / sizeof(T);
  const hn::CappedTag<T, kSide> tag;
  using Vector = hn::Vec<decltype(tag)>;
  // Vectors may have no size that the compiler knows, so that std::array cannot hold them.
  Vector rows[kSide];  // NOLINT(modernize-avoid-c-arrays)
  Vector next[kSide];  // NOLINT(modernize-avoid-c-arrays)
#pragma GCC unroll 16
  for (std::size_t i = 0; i < kSide; ++i)
    rows[i] = hn::LoadU(tag, from + static_cast<std::int64_t>(i) * stride);
#pragma GCC unroll 4
  for (std::size_t done = 1; done < kSide; done *= 2) {
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kSide / 2; ++i) {
      next[2 * i] = hn::InterleaveLower(tag, rows[i], rows[i + kSide / 2]);
      next[2 * i + 1] = hn::InterleaveUpper(tag, rows[i], rows[i + kSide / 2]);
    }
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kSide; ++i) rows[i] = next[i];
  }
#pragma GCC unroll 16
  for (std::size_t i = 0; i < kSide; ++i)
    hn::StoreU(rows[i], tag, to + static_cast<std::int64_t>(i) * pitch);
}
#endif

// The lines of the same rows, one tile further: they lie too far apart for the processor to guess.
template <typename T>
HWY_INLINE void prefetch(const T* from, std::int64_t stride, std::int64_t rows,
                         std::int64_t columns) {
  const auto bytes = rows * static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t column = 0; column < columns; ++column) {
    const auto at = reinterpret_cast<std::uintptr_t>(from) +
                    static_cast<std::uintptr_t>(column * stride) * sizeof(T);
    for (std::int64_t byte = 0; byte < bytes; byte += 64)
      __builtin_prefetch(reinterpret_cast<const void*>(at + static_cast<std::uintptr_t>(byte)));
  }
}

template <typename T>
HWY_INLINE void transpose_tile(const T* from, std::int64_t stride, std::int64_t rows,
                               std::int64_t columns, T* to, std::int64_t pitch) {
  constexpr auto kSide = static_cast<std::int64_t>(16 / sizeof(T));
  constexpr auto kColumns = kTileRowBytes / static_cast<std::int64_t>(sizeof(T));
  // Not cleared: what is read of it was written before.
  alignas(64) std::array<T, static_cast<std::size_t>(kTileRows * kColumns)> buffer;
  T* const tile = buffer.data();
  const std::int64_t whole_rows = rows / kSide * kSide, whole_columns = columns / kSide * kSide;
  for (std::int64_t column = 0; column < whole_columns; column += kSide) {
    const T* const at = from + column * stride;
    prefetch(at + kColumns * stride, stride, rows, kSide);
    for (std::int64_t row = 0; row < whole_rows; row += kSide)
      transpose_square(at + row, stride, tile + row * kColumns + column, kColumns);
    copy_elements(at + whole_rows, stride, rows - whole_rows, kSide,
                  tile + whole_rows * kColumns + column, kColumns);
  }
  copy_elements(from + whole_columns * stride, stride, rows, columns - whole_columns,
                tile + whole_columns, kColumns);
  for (std::int64_t row = 0; row < rows; ++row)
    std::memcpy(static_cast<void*>(to + row * pitch), tile + row * kColumns,
                static_cast<std::size_t>(columns) * sizeof(T));
}

template <typename T>
HWY_INLINE void transpose_tiles(const std::byte* from, std::int64_t stride, std::int64_t rows,
                                std::int64_t columns, std::byte* to, std::int64_t pitch) {
  constexpr auto kColumns = kTileRowBytes / static_cast<std::int64_t>(sizeof(T));
  const T* const source = reinterpret_cast<const T*>(from);
  T* const result = reinterpret_cast<T*>(to);
  for (std::int64_t column = 0; column < columns; column += kColumns)
    for (std::int64_t row = 0; row < rows; row += kTileRows)
      transpose_tile(source + column * stride + row, stride, std::min(kTileRows, rows - row),
                     std::min(kColumns, columns - column), result + row * pitch + column, pitch);
}

void transpose_1(const std::byte* from, std::int64_t stride, std::int64_t rows,
                 std::int64_t columns, std::byte* to, std::int64_t pitch) {
  transpose_tiles<std::uint8_t>(from, stride, rows, columns, to, pitch);
}
void transpose_2(const std::byte* from, std::int64_t stride, std::int64_t rows,
                 std::int64_t columns, std::byte* to, std::int64_t pitch) {
  transpose_tiles<std::uint16_t>(from, stride, rows, columns, to, pitch);
}
void transpose_4(const std::byte* from, std::int64_t stride, std::int64_t rows,
                 std::int64_t columns, std::byte* to, std::int64_t pitch) {
  transpose_tiles<std::uint32_t>(from, stride, rows, columns, to, pitch);
}
void transpose_8(const std::byte* from, std::int64_t stride, std::int64_t rows,
                 std::int64_t columns, std::byte* to, std::int64_t pitch) {
  transpose_tiles<std::uint64_t>(from, stride, rows, columns, to, pitch);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace sardonyx::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::kernels {
namespace {

HWY_EXPORT(transpose_1);
HWY_EXPORT(transpose_2);
HWY_EXPORT(transpose_4);
HWY_EXPORT(transpose_8);

}  // namespace

void transpose(const std::byte* from, std::int64_t stride, std::int64_t rows, std::int64_t columns,
               std::size_t width, std::byte* to, std::int64_t pitch) {
  switch (width) {
    case 1:
      return HWY_DYNAMIC_DISPATCH(transpose_1)(from, stride, rows, columns, to, pitch);
    case 2:
      return HWY_DYNAMIC_DISPATCH(transpose_2)(from, stride, rows, columns, to, pitch);
    case 4:
      return HWY_DYNAMIC_DISPATCH(transpose_4)(from, stride, rows, columns, to, pitch);
    default:
      return HWY_DYNAMIC_DISPATCH(transpose_8)(from, stride, rows, columns, to, pitch);
  }
}

}  // namespace sardonyx::kernels
#endif  // HWY_ONCE
