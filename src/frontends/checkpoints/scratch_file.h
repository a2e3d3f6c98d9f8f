// New files of what is computed of a checkpoint's tensors: written from one end to the other by
// several threads. Each has a few megabytes in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "frontends/checkpoints/distributed.h"
#include "kernels/dequantize.h"
#include "kernels/ggml_blocks.h"

namespace sardonyx::checkpoints {

// All of these throw SX1601 where the file cannot be written, and return its bytes. Parts of mapped
// files that are cut short meanwhile are found by base::check_not_cut_short().

// float32 values of blocks that lie one after the other.
std::int64_t write_dequantized(const kernels::GgmlBlock& block, std::span<const std::byte> blocks,
                               const std::string& path);
// What is written of a matrix: its rows, or those of the transposes of `matrices` that lie one
// after the other in it. Several have groups of rows that are listed nowhere.
struct Transposition {
  bool transposed = false;
  std::int64_t matrices = 1;  // a divisor of the rows, and of the groups of rows
};
std::int64_t write_dequantized(const kernels::CodeMatrix& codes, const kernels::GroupScales& scales,
                               Transposition form, const std::string& path);

// A tensor put together of its pieces, row by row. Throws as locate_pieces(), too.
std::int64_t write_joined(const std::string& folder, const DistributedTensor& tensor,
                          const std::string& path);

}  // namespace sardonyx::checkpoints
