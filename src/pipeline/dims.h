// Dynamic dimensions that become numbers, or get a bound.
#pragma once

#include "onnx/graph/ir.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx::pipeline {

// In every shape of the model. Throws SX1019.
void set_dims(onnx::Model& model, const DimOptions& options);

}  // namespace sardonyx::pipeline
