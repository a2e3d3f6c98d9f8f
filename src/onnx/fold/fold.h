// Evaluating a node whose inputs are constants.
#pragma once

#include <cstdint>
#include <vector>

#include "onnx/graph/ir.h"

namespace sardonyx::onnx {

// Whether folding looks at the data of weights; it is dear where their data may yet be replaced.
enum class Weights : std::uint8_t { kKeep, kFold };

// The outputs' data where every needed input is a small constant; empty when not folded.
std::vector<Tensor> fold(const Node& node, Weights weights = Weights::kKeep);

}  // namespace sardonyx::onnx
