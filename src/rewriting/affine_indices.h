// Integers that say where things stand: tokens, keys, queries.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "onnx/graph/ir.h"

namespace sardonyx::rewriting {

// What a runtime for language models feeds, where it is known to; null where callers may feed
// anything.
struct Feeds {
  // [batch, total]: 1 for each token, past ones included, and 0 behind the last of a row.
  const onnx::ValueInfo* attention_mask = nullptr;
  // [batch, sequence]: from the number of past tokens on.
  const onnx::ValueInfo* position_ids = nullptr;
  symbolic::Expr past;  // how many that are
};

// Integers, or what they are in floating point, that grow steadily along each axis: the element at
// an index is `start` and the sum of the index times `steps`.
struct AffineIndex {
  std::vector<std::int64_t> steps;
  symbolic::Expr start;

  // Of as many axes, the new ones in front.
  AffineIndex with_rank(std::size_t rank) const;
};

// Nothing for values that are not seen to be an affine index.
std::optional<AffineIndex> affine_index_of(const onnx::ValueInfo* value, const Feeds& feeds);

// What an Unsqueeze, Squeeze, Expand or Reshape makes of an affine index; nothing where the node is
// none of these, or joins axes.
std::optional<AffineIndex> viewed(const onnx::Node* node, const AffineIndex& index);

}  // namespace sardonyx::rewriting
