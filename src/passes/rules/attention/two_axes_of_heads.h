// Heads of two axes, [batch, groups, heads, length, size], as one.
#pragma once

#include "onnx/graph/ir.h"
#include "rewriting/patch.h"

namespace sardonyx::passes {

// Such queries, and keys and values of one head a group.
bool fit_by_two_axes(const onnx::ValueInfo* q, const onnx::ValueInfo* k, const onnx::ValueInfo* v);

// [batch, groups * heads, length, size]; null where a size would have to be computed.
onnx::ValueInfo* with_one_axis_of_heads(onnx::ValueInfo* value, rewriting::Patch& patch);

// The same of a mask for scores that does not tell heads apart; null where it does.
onnx::ValueInfo* mask_with_one_axis_of_heads(onnx::ValueInfo* mask, rewriting::Patch& patch);

// What read `value` reads `joined`, its heads on two axes again. False where a size would have to
// be computed.
bool replace_by_one_axis_of_heads(onnx::ValueInfo* value, onnx::ValueInfo* joined,
                                  rewriting::Patch& patch);

}  // namespace sardonyx::passes
