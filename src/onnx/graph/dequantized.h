// Weights that a checkpoint holds as codes of a few bits with scales, or as ggml's blocks: made
// float32 as they are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/dequantize.h"
#include "kernels/ggml_blocks.h"
#include "onnx/graph/element_source.h"

namespace sardonyx::onnx {

// What is read of a matrix of codes: its rows, or those of the transposes of `matrices` that lie
// one after the other in it. Several have groups of rows that are listed nowhere.
struct Transposition {
  bool transposed = false;
  std::int64_t matrices = 1;  // a divisor of the rows, and of the groups of rows
};

// `owners` keep what the codes and scales point to.
using Owners = std::vector<std::shared_ptr<const void>>;
std::shared_ptr<const ElementSource> dequantized(const kernels::CodeMatrix& codes,
                                                 const kernels::GroupScales& scales,
                                                 Transposition form, Owners owners);
// Whole blocks, a number of them in each row of so many elements.
std::shared_ptr<const ElementSource> dequantized(const kernels::GgmlBlock& block,
                                                 std::span<const std::byte> blocks,
                                                 std::int64_t columns, Owners owners);

}  // namespace sardonyx::onnx
