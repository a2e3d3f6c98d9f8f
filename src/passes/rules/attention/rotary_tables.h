// The tables of rotary embeddings: programs hold each angle twice in the last axis, in both halves
// of it or beside itself; RotaryEmbedding takes it once.
#pragma once

#include <cstdint>
#include <vector>

#include "onnx/gen/op.h"
#include "onnx/graph/ir.h"
#include "rewriting/patch.h"

namespace sardonyx::passes {

// What stands twice, side by side in the last axis; null where nothing does.
onnx::ValueInfo* repeated(const onnx::ValueInfo* value);

// Whether the node moves nothing along the last axis of what it reads and makes.
bool keeps_last_axis(const onnx::Node* node);

// Its Unsqueeze or Squeeze by these axes: that of another layer where one stands before `position`.
onnx::ValueInfo* with_axes(onnx::Op op, onnx::ValueInfo* value, std::vector<std::int64_t> axes,
                           rewriting::Patch& patch, const onnx::Node* position);

// A table with each angle once, computed before `position`, or there already; null where the table
// is not known to hold it twice, beside itself (interleaved) or in both halves, or may not be
// changed.
onnx::ValueInfo* half_of(onnx::ValueInfo* table, bool interleaved, rewriting::Patch& patch,
                         const onnx::Node* position, const rewriting::RuleContext& context);

}  // namespace sardonyx::passes
