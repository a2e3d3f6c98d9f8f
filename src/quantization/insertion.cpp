#include "quantization/insertion.h"

#include <span>
#include <utility>

#include "quantization/ir_names.h"

namespace sardonyx::quantization {
namespace {

Tensor zeros(DType dtype, std::vector<std::int64_t> dims, std::int64_t value) {
  return base::is_integer(dtype) ? Tensor::filled_int(dtype, std::move(dims), value)
                                 : Tensor::filled(dtype, std::move(dims), 0);
}

}  // namespace

Node* Insertion::new_node(const char* type, const Node* like, const std::string& name) {
  Node* const node = model_.add_node(type, "");
  if (like != nullptr) {
    node->origin = like->origin;
    node->metadata = like->metadata;
  }
  model_.name_node(node, name + "_" + type);
  return node;
}

ValueInfo* Insertion::new_value(const std::string& name, const ValueInfo* like, DType dtype) {
  ValueInfo* const value = model_.add_value(name, model_.graph);
  value->dtype = dtype;
  value->has_rank = like->has_rank;
  value->shape = like->shape;
  value->graph = model_.graph;
  return value;
}

void Insertion::quantize_activation(ValueInfo* value, const Parameters& parameters) {
  Node* const producer = value->producer;
  ValueInfo* const scale =
      model_.add_constant(Tensor::filled(DType::kFloat32, {}, parameters.scale));
  ValueInfo* const zero = model_.add_constant(zeros(parameters.dtype, {}, parameters.zero_point));
  Node* const quantize = new_node("QuantizeLinear", producer, value->name);
  Node* const dequantize = new_node("DequantizeLinear", producer, value->name);
  ValueInfo *before = value, *after = value;
  if (producer == nullptr) {
    after = new_value(value->name + "_dequantized", value, DType::kFloat32);
    onnx::replace_all_uses(value, after);
    onnx::insert_before(model_.graph->first, quantize);
  } else {
    before = new_value(value->name + "_float", value, DType::kFloat32);
    before->producer = producer;
    before->index = value->index;
    producer->outputs[value->index] = before;
    onnx::insert_after(producer, quantize);
  }
  onnx::insert_after(quantize, dequantize);
  ValueInfo* const codes = new_value(value->name + "_quantized", value, parameters.dtype);
  for (ValueInfo* input : {before, scale, zero}) onnx::add_input(quantize, input);
  onnx::add_output(quantize, codes);
  for (ValueInfo* input : {codes, scale, zero}) onnx::add_input(dequantize, input);
  if (producer == nullptr) {
    onnx::add_output(dequantize, after);
  } else {
    dequantize->outputs = {value};
    value->producer = dequantize;
    value->index = 0;
  }
}

void Insertion::replace_constant(Node* node, std::size_t index, Tensor codes,
                                 const std::vector<float>& scales, std::int64_t axis) {
  ValueInfo* const constant = node->inputs[index];
  const bool is_per_channel = scales.size() != 1 || codes.dims.size() == 1;
  const std::vector<std::int64_t> dims =
      is_per_channel ? std::vector<std::int64_t>{static_cast<std::int64_t>(scales.size())}
                     : std::vector<std::int64_t>{};
  const DType dtype = codes.dtype;
  Node* const dequantize = new_node("DequantizeLinear", node, constant->name);
  if (is_per_channel) onnx::set_attribute(dequantize, "axis", axis);
  onnx::insert_before(node, dequantize);
  const std::string name = constant->name;
  onnx::add_input(dequantize, model_.add_weight(name + "_quantized", std::move(codes)));
  onnx::add_input(
      dequantize,
      model_.add_weight(name + "_scale",
                        Tensor::of_bytes(DType::kFloat32, dims, std::as_bytes(std::span(scales)))));
  onnx::add_input(dequantize, model_.add_weight(name + "_zero_point", zeros(dtype, dims, 0)));
  ValueInfo* const result = new_value(name + "_dequantized", constant, DType::kFloat32);
  onnx::add_output(dequantize, result);
  onnx::set_input(node, index, result);
}

}  // namespace sardonyx::quantization
