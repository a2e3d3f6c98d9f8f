// From a model in QDQ form back to one in float, so that it can be quantized anew.
#pragma once

#include "onnx/graph/ir.h"

namespace sardonyx::quantization {

// Dequantized weights become float32. A QuantizeLinear with the DequantizeLinear after it becomes a
// Clip to the range of its type, which may be all that is left of an activation. What is quantized
// in other forms stays.
void remove_quantization(onnx::Model& model);

}  // namespace sardonyx::quantization
