// From float32 to float16 or bfloat16, for a whole model.
#pragma once

#include <string>
#include <vector>

#include "onnx/graph/ir.h"
#include "precision/report.h"

namespace sardonyx::precision {

struct HalfOptions {
  base::DType dtype = base::DType::kFloat16;  // or bfloat16
  bool io = false;                // inputs and outputs of the model change their type, too
  std::vector<std::string> keep;  // operators, nodes or weights that stay in float32
};

// Nodes compute in half, but for those that would lose more than rounding (half_plan.h); casts
// stand between the two. Weights change their type as they are written. Works on a model of the
// canonical IR with known types; inputs and outputs of bodies and functions stay float32.
// Throws SX1812 for a pattern that names nothing.
Report to_half(onnx::Model& model, const HalfOptions& options);

}  // namespace sardonyx::precision
