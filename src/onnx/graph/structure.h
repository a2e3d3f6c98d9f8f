// What a model computes and how, without the names that nobody outside sees.
#pragma once

#include <cstdint>

#include "onnx/graph/ir.h"

namespace sardonyx::onnx {

// Equal for two states of one model that have the same nodes between the same inputs, outputs and
// constants, whatever their order and the names of what lies between. Large constants count as the
// same where they lie at the same place.
std::uint64_t structure_of(const Model& model);

}  // namespace sardonyx::onnx
