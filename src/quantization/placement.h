// Where quantization goes in a model, by the table of a target.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "onnx/graph/ir.h"
#include "targets/quantization/quantization.h"

namespace sardonyx::quantization {

// A product with a constant weight.
struct Layer {
  onnx::Node* node;
  onnx::ValueInfo* input;
  onnx::ValueInfo* weight;
  onnx::ValueInfo* bias;  // a constant of one dim that the operator adds; null where there is none
  std::int64_t axis;      // of the weight's output channels
  std::int64_t input_axis;  // of the input's channels
};

// A node that the target could quantize and that stays in float.
struct Kept {
  const onnx::Node* node;
  std::string reason;
};

struct Placement {
  std::vector<Layer> layers;
  // Activations that are quantized, in the order of the graph.
  std::vector<onnx::ValueInfo*> values;
  // The value that has the scale of this one, if it is another.
  std::map<const onnx::ValueInfo*, onnx::ValueInfo*> scale_of;
  std::vector<Kept> kept;

  // Whose scale the value has in the end.
  onnx::ValueInfo* root_of(onnx::ValueInfo* value) const;
};

// Patterns of `keep` as everywhere: operators by type, or expressions of names of nodes, outputs or
// weights. Throws SX1812 where one matches nothing.
Placement place(onnx::Model& model, const targets::QuantizationTarget& target,
                const std::vector<std::string>& keep);

// Throws SX1831 for a model that has quantized tensors.
void check_is_float(const onnx::Model& model);

}  // namespace sardonyx::quantization
