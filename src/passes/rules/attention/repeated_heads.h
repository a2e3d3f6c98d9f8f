// Heads that are repeated so that groups of queries share them.
#pragma once

#include "onnx/graph/ir.h"

namespace sardonyx::passes {

// [batch, heads, length, size] of which each head stands `group` times, one after the other, in
// `value`; null where it is nothing of the kind.
onnx::ValueInfo* before_repetition(const onnx::ValueInfo* value);

}  // namespace sardonyx::passes
