// Tables of rotary embeddings: a row for each position there may be, computed as they are written.
#pragma once

#include <cstdint>

#include "onnx/graph/ir.h"
#include "rewriting/affine_indices.h"
#include "rewriting/patch.h"

namespace sardonyx::targets {

// [rows, width] whose row p is what `value`, [batch, sequence, width] or a view of it, has for the
// token at position p: cosines or sines of p times frequencies that are constant, perhaps scaled,
// or rows of a constant. Null where `value` is anything else, or not of positions from feeds.past
// on. Layers that compute with the same angles share a table.
onnx::ValueInfo* angle_table(onnx::ValueInfo* value, std::int64_t rows,
                             const rewriting::Feeds& feeds, rewriting::RuleContext& context,
                             rewriting::Patch& patch);

}  // namespace sardonyx::targets
