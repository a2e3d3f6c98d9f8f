// What is done because ONNX Runtime computes something else without it.
#pragma once

#include "onnx/graph/ir.h"

namespace sardonyx::passes {

bool part_transposes(onnx::Model& model);
bool spell_out_scales(onnx::Model& model);

}  // namespace sardonyx::passes
