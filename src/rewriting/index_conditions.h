// Truth values that places decide: which keys a query attends to, say.
#pragma once

#include <optional>
#include <vector>

#include "onnx/graph/ir.h"
#include "rewriting/affine_indices.h"

namespace sardonyx::rewriting {

// What a mask is true for: where all indices are 0 or more, and the tokens that `padding` stands
// for are there.
struct Condition {
  std::vector<AffineIndex> indices;
  std::vector<AffineIndex> padding;  // steps: 1 along the batch, 2 along the tokens
};

// Nothing where a mask is true for anything else.
std::optional<Condition> condition_of(const onnx::ValueInfo* mask, const Feeds& feeds);
// Of what is true where it is false.
std::optional<Condition> opposite(std::optional<Condition> condition);

}  // namespace sardonyx::rewriting
