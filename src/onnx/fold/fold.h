// Evaluating a node whose inputs are constants.
#pragma once

#include <cstdint>
#include <vector>

#include "onnx/graph/ir.h"

namespace sardonyx::onnx {

// Whether folding looks at the data of weights; it is dear where their data may yet be replaced.
// Of weights, results may be large, and functions and sums of real numbers are computed in float64
// and rounded once; of the numbers of the code, nothing is folded that machines might disagree on.
enum class Weights : std::uint8_t { kKeep, kFold };

// Elements of a weight that is computed with.
inline constexpr std::int64_t kMaxFoldedWeight = std::int64_t{1} << 24;

// The outputs' data where every needed input is a small constant; empty when not folded.
std::vector<Tensor> fold(const Node& node, Weights weights = Weights::kKeep);

}  // namespace sardonyx::onnx
