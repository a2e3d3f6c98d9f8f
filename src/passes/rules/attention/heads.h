// How attention's heads lie in a tensor: side by side in a row, or an axis of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "onnx/graph/ir.h"

namespace sardonyx::passes {

// All sizes are known expressions.
bool is_known(const onnx::ValueInfo* value, std::size_t rank);

// [batch, length, heads, size] and [batch, heads, length, size], either way.
bool swaps_length_and_heads(const onnx::Node* transpose);

// [length, batch, ...] as [batch, length, ...], of so many axes.
bool swaps_first_two(const onnx::Node* transpose, std::size_t rank);

struct Heads {
  onnx::ValueInfo* joined;  // [batch, length, heads * size]
  std::int64_t count;       // heads
  bool length_first;        // it is [length, batch, heads * size]
};

// Of [batch, heads, length, size] that was made of them side by side.
std::optional<Heads> heads_of(const onnx::ValueInfo* value);

// Whether a mask is alike for all batches, and so for all heads; so is none.
bool is_alike_for_all(const onnx::ValueInfo* mask);

}  // namespace sardonyx::passes
