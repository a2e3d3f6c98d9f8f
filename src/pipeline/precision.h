// Precision as the public interface has it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "onnx/graph/ir.h"
#include "sardonyx/sardonyx.h"
#include "targets/target.h"

namespace sardonyx {

// Throws SX1810 for a word that is none of those there are.
void check(const PrecisionOptions& options, const targets::Target& target);

// What float32 becomes; undefined where it stays.
base::DType half_of(const PrecisionOptions& options);

// How many weights share a scale where weights are quantized in blocks; 0 where they are not.
std::int64_t quantized_block_size(const PrecisionOptions& options);

// The opset that the weights need: block-wise quantization needs opset 21, unless the target has
// contrib operators for it. `default_opset` is used where none was `requested`. Throws SX1815 where
// an older one was.
std::int64_t opset_for(const PrecisionOptions& options, const targets::Target& target,
                       std::optional<std::int64_t> requested, std::int64_t default_opset);

// After the canonical rewriting and before lowering. Adds what it changed to `done`. `in_half` is
// called when the model computes in half precision, before weights are quantized.
void change_precision(onnx::Model& model, const PrecisionOptions& options,
                      const targets::Target& target, OptimizationReport& done,
                      const std::function<void()>& in_half);

}  // namespace sardonyx
