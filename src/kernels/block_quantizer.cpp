#include "kernels/block_quantizer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/block_vectors.h"
#include "kernels/cast.h"

namespace sardonyx::kernels {
namespace {

// Weights that are looked at for their scales and then coded: they stay in the nearest cache.
constexpr std::int64_t kRun = 4096;
constexpr std::int64_t kSmallestBlock = 16;

// Rounds scales to what they are stored in.
void round_scales(std::span<float> scales, base::DType stored) {
  if (stored == base::DType::kFloat32) return;
  std::array<std::byte, kRun / kSmallestBlock * sizeof(double)> bytes;
  from_floats(stored, scales, bytes.data());
  to_floats(stored, bytes.data(), scales);
}

CodingError code_run(const float* weights, std::int64_t blocks, const BlockForm& form,
                     std::uint8_t* codes, float* scales, std::uint8_t* zero_points) {
  choose_scales(weights, blocks, form, scales, zero_points);
  round_scales({scales, static_cast<std::size_t>(blocks)}, form.scale);
  return code_weights(weights, blocks, form, scales, zero_points, codes);
}

}  // namespace

double CodingError::relative() const {
  return weights == 0 && squares == 0 ? 0 : std::sqrt(squares / weights);
}

void CodingError::add(const CodingError& other) {
  squares += other.squares;
  weights += other.weights;
  largest = std::isnan(other.largest) ? other.largest : std::max(largest, other.largest);
}

CodingError code_blocks(const float* weights, std::int64_t rows, std::int64_t columns,
                        const BlockForm& form, std::uint8_t* codes, float* scales,
                        std::uint8_t* zero_points) {
  // Blocks that are all whole are those of one long row.
  if (columns % form.size == 0) {
    columns *= rows;
    rows = columns == 0 ? 0 : 1;
  }
  CodingError error;
  const std::int64_t whole = columns / form.size * form.size, rest = columns - whole;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t at = 0; at < whole; at += kRun) {
      const std::int64_t blocks = std::min(kRun, whole - at) / form.size;
      error.add(code_run(weights + at, blocks, form, codes + at, scales, zero_points));
      scales += blocks;
      zero_points += blocks;
    }
    if (rest > 0) {
      alignas(64) std::array<float, kLargestBlock> padded{};
      alignas(64) std::array<std::uint8_t, kLargestBlock> padded_codes;
      std::copy_n(weights + whole, rest, padded.begin());
      error.add(code_run(padded.data(), 1, form, padded_codes.data(), scales++, zero_points++));
      std::copy_n(padded_codes.begin(), rest, codes + whole);
    }
    weights += columns;
    codes += columns;
  }
  return error;
}

std::byte* pack_codes(std::span<const std::uint8_t> codes, int bits, std::uint8_t flip,
                      std::byte* to) {
  if (bits == 8) {
    flip_bytes(codes, flip, to);
    return to + codes.size();
  }
  const std::size_t pairs = codes.size() / 2;
  pack_pairs(codes.first(2 * pairs), flip, to);
  if (codes.size() % 2 == 0) return to + pairs;
  to[pairs] = static_cast<std::byte>(codes.back() ^ flip);
  return to + pairs + 1;
}

}  // namespace sardonyx::kernels
