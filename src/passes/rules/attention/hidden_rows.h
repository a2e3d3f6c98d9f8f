// Rows of scores that a mask hides as a whole.
#pragma once

#include "onnx/graph/ir.h"

namespace sardonyx::passes {

// The truth values m of a mask that is Where(m, 0, -infinity); null for any other.
onnx::ValueInfo* truth_of(const onnx::ValueInfo* mask);

// The Where that puts zeros for rows of `attended` that the mask hides, all that reads it; null
// where there is none. Decomposed attention has it.
onnx::Node* zeros_for_hidden_rows(const onnx::ValueInfo* attended, const onnx::ValueInfo* mask);

// Whether the elements of `truth` in the first place of each row are all this, so that a causal
// mask and any part of it from the first key on keeps that key in each row.
bool begins_with(const onnx::ValueInfo* truth, bool wanted);

// Whether the first number of each row is not infinite, by how the mask is made.
bool begins_finite(const onnx::ValueInfo* mask);

}  // namespace sardonyx::passes
