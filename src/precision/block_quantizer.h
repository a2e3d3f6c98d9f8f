// Numbers of a few bits for runs of weights that share a scale.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace sardonyx::precision {

struct BlockForm {
  int bits = 4;            // 4 or 8
  std::int64_t size = 32;  // weights that share a scale: 16 or a larger power of two
  // Code 2^(bits - 1) stands for zero; otherwise each block says which code does.
  bool symmetric = true;
  // Looks for the scale with the least squared error, instead of the one that the block's extremes
  // give ("rtn": round to nearest).
  bool search = true;
  base::DType scale = base::DType::kFloat32;  // what scales are stored in

  int middle() const { return 1 << (bits - 1); }
  int highest() const { return (1 << bits) - 1; }
};

// Weight i is scale * (code i - zero_point).
struct BlockScale {
  float scale = 0;
  std::uint8_t zero_point = 0;
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
// of a row may be shorter. `codes` is laid out as the weights; `scales` has the blocks row by row.
// A block that holds NaN or an infinity gets a scale of NaN.
CodingError code_blocks(const float* weights, std::int64_t rows, std::int64_t columns,
                        const BlockForm& form, std::uint8_t* codes, BlockScale* scales);

}  // namespace sardonyx::precision
