// The experts of one MoE of com.microsoft as numbers of a few bits in blocks.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "onnx/graph/ir.h"
#include "precision/report.h"
#include "precision/selection.h"
#include "precision/weight_only.h"

namespace sardonyx::precision {

// Where the stacks of matrices [experts, rows, columns] of a MoE are among its inputs.
inline constexpr std::array<std::size_t, 2> kExpertInputs = {2, 4};

// Whether the node is a MoE whose two stacks of matrices are constants in float16.
bool has_experts(const onnx::Node* node);

// Why the experts of such a node stay as they are; empty where they can be quantized. There are
// kernels for blocks of 32, 64 and 128 and widths that are multiples of 64.
std::string obstacle_of_experts(const onnx::Node* node, std::int64_t block_size);

// Whether the pattern names the node, one of its stacks, what that was made of, or an expert of it
// by its number: `experts.down_proj.3`.
bool names_experts(Pattern& pattern, const onnx::Node* node, const onnx::ValueInfo* stack);

// Before: y = MoE(x, logits, W1, b1, W2, b2)
// After:  y = QMoE(x, logits, codes1, scales1, b1, codes2, scales2, b2, , , , zeros1, zeros2)
// The codes are [experts, rows, bytes of a row], which the runtime lays out as it loads the model
// (weights_prepacked = 0), scales [experts, rows, blocks] and zero points [experts, rows, bytes].
void quantize_experts(onnx::Model& model, onnx::Node* node, int bits,
                      const WeightOnlyOptions& options, Report& report);

}  // namespace sardonyx::precision
