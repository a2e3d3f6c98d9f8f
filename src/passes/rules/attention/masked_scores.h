// Scores that a Where replaces by a number where a key is hidden.
#pragma once

#include <optional>

#include "onnx/graph/ir.h"
#include "rewriting/patch.h"

namespace sardonyx::passes {

struct Hidden {
  onnx::ValueInfo* truth;  // of the Where
  bool where_true;         // whether it hides where the truth is true, or where it is false
  double number;           // what stands there instead
  onnx::ValueInfo* rest;   // what stands elsewhere, of the shape that the Where has
};

// Of Where(truth, number, rest) or Where(truth, rest, number).
std::optional<Hidden> hidden_by(const onnx::ValueInfo* value);

inline bool hide_alike(const Hidden& a, const Hidden& b) {
  return a.truth == b.truth && a.where_true == b.where_true;
}

// The number that may be added to scores of the type where `number` stands in their place, so that
// their softmax is the same: it is so low that a score does not change it, or minus infinity.
// Nothing where there is none: `number` is near the scores, or what else is added
// (`is_added_to`) makes a difference next to it.
std::optional<double> as_summand(double number, base::DType dtype, bool is_added_to);

// Where(truth, 0, number), or the other way round, as `hidden` has it; with `mask` added where
// there is one. What another layer made before `position` is taken.
onnx::ValueInfo* mask_of(const Hidden& hidden, double number, base::DType dtype,
                         onnx::ValueInfo* mask, rewriting::Patch& patch,
                         const onnx::Node* position);

}  // namespace sardonyx::passes
