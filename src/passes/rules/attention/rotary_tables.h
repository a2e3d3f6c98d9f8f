// The tables of rotary embeddings: programs hold each angle twice, side by side in the last axis;
// RotaryEmbedding takes it once.
#pragma once

#include "onnx/graph/ir.h"
#include "rewriting/patch.h"

namespace sardonyx::passes {

// What stands twice, side by side in the last axis; null where nothing does.
onnx::ValueInfo* repeated(const onnx::ValueInfo* value);

// Whether the node moves nothing along the last axis of what it reads and makes.
bool keeps_last_axis(const onnx::Node* node);

// The first half of a table whose halves are the same, computed before `position`, or there
// already; null where they are not, or may not be.
onnx::ValueInfo* half_of(onnx::ValueInfo* table, rewriting::Patch& patch,
                         const onnx::Node* position, const rewriting::RuleContext& context);

}  // namespace sardonyx::passes
