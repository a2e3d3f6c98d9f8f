// Numbers of a few bits for runs of weights that share a scale.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/dtype.h"

namespace sardonyx::kernels {

struct BlockForm {
  int bits = 4;            // 4 or 8
  std::int64_t size = 32;  // weights that share a scale: a power of two from 16 to 256
  // Code 2^(bits - 1) stands for zero; otherwise each block says which code does.
  bool symmetric = true;
  // Looks for the scale with the least squared error, instead of the one that the block's extremes
  // give ("rtn": round to nearest).
  bool search = true;
  base::DType scale = base::DType::kFloat32;  // what scales are stored in

  int middle() const { return 1 << (bits - 1); }
  int highest() const { return (1 << bits) - 1; }
};

// What coding made of weights.
struct CodingError {
  double squares = 0;  // of the differences
  double weights = 0;  // of the weights themselves
  double largest = 0;  // of the differences

  // Root mean square of the differences as a part of the weights'; 0 where these are all 0.
  double relative() const;
  void add(const CodingError& other);
};

// Codes `rows` runs of `columns` weights, which lie row by row, in blocks along each: the last one
// of a row may be shorter. Weight i is scale * (code i - zero point), the scale as it is stored.
// `codes` is laid out as the weights; `scales` and `zero_points` have the blocks row by row. A
// block that holds NaN or an infinity gets a scale of NaN. The same on every processor.
CodingError code_blocks(const float* weights, std::int64_t rows, std::int64_t columns,
                        const BlockForm& form, std::uint8_t* codes, float* scales,
                        std::uint8_t* zero_points);

// Packs codes of 4 or 8 bits, the first in the lowest bits, to the end of a byte; each is combined
// with `flip` by exclusive or first. Returns the end of what was written.
std::byte* pack_codes(std::span<const std::uint8_t> codes, int bits, std::uint8_t flip,
                      std::byte* to);

}  // namespace sardonyx::kernels
