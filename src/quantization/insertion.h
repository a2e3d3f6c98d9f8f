// Nodes of quantization in a graph.
#pragma once

#include <string>
#include <vector>

#include "onnx/graph/ir.h"
#include "quantization/ranges.h"

namespace sardonyx::quantization {

class Insertion {
 public:
  explicit Insertion(onnx::Model& model) : model_(model) {}

  // What reads the value reads it quantized and dequantized. An output of the graph keeps its name.
  void quantize_activation(onnx::ValueInfo* value, const Parameters& parameters);
  // Input `index` of the node becomes the codes, dequantized along the axis; zero points are 0.
  void replace_constant(onnx::Node* node, std::size_t index, onnx::Tensor codes,
                        const std::vector<float>& scales, std::int64_t axis);

 private:
  onnx::Node* new_node(const char* type, const onnx::Node* like, const std::string& name);
  onnx::ValueInfo* new_value(const std::string& name, const onnx::ValueInfo* like,
                             base::DType dtype);

  onnx::Model& model_;
};

}  // namespace sardonyx::quantization
