// Precision as the public interface has it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "onnx/graph/ir.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx {

// Throws SX1810 for a word that is none of those there are.
void check(const PrecisionOptions& options);

// The opset that the weights ask for: blocks are of opset 21, unless the runtime has operators of
// its own for them. SX1815 where another is asked for.
std::int64_t opset_for(const PrecisionOptions& options, std::string_view runtime,
                       std::optional<std::int64_t> asked, std::int64_t otherwise);

// Between simplifying and lowering; what it did goes to `done`.
void change_precision(onnx::Model& model, const PrecisionOptions& options, std::string_view runtime,
                      OptimizationReport& done);

}  // namespace sardonyx
