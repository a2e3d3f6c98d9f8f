// Blocks of weights in a few bits, as GGUF files hold them, and the values that they stand for.
// Every row of a tensor is a row of blocks, and every block has its scales in itself. The layouts:
// ggml's ggml-common.h (the structs) and ggml-quants.c (dequantize_row_*).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace sardonyx::kernels {

struct GgmlBlock {
  std::uint32_t type;     // ggml's number of it
  std::string_view name;  // ggml's
  int elements, bytes;    // of one block
};

// All types of blocks that are supported.
std::span<const GgmlBlock> ggml_blocks();
// Null for types of elements that are no blocks, and for blocks that are not supported.
const GgmlBlock* ggml_block(std::uint32_t type);
const GgmlBlock* ggml_block(std::string_view name);

// The values of `count` blocks that lie one after the other: count * block.elements floats. The
// same on every processor.
void dequantize_blocks(const GgmlBlock& block, const std::byte* blocks, std::int64_t count,
                       float* values);

}  // namespace sardonyx::kernels
