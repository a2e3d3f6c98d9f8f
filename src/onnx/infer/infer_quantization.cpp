// Quantization: the integer type is that of the zero point, or of the attribute, or uint8.
#include "onnx/infer/inference.h"

namespace sardonyx::onnx {
namespace {

void quantize(Inference& node) {
  DType dtype = DType::kUInt8;
  const auto given = static_cast<DType>(node.integer("output_dtype", 0));
  if (node.has(2))
    dtype = node.dtype(2);
  else if (given != DType::kUndefined)
    dtype = given;
  node.set_dtype(0, dtype);
  if (node.has_rank(0)) node.set_shape(0, node.shape(0));
}

void dequantize(Inference& node) {
  const auto given = static_cast<DType>(node.integer("output_dtype", 0));
  node.set_dtype(0, given != DType::kUndefined ? given : node.dtype(1));
  if (node.has_rank(0)) node.set_shape(0, node.shape(0));
}

void dynamic_quantize(Inference& node) {
  if (node.has_rank(0)) node.set_shape(0, node.shape(0));
  node.set_shape(1, {});
  node.set_shape(2, {});
}

constexpr InferenceRule kRules[] = {
    {Op::kQuantizeLinear, quantize},
    {Op::kDequantizeLinear, dequantize},
    {Op::kDynamicQuantizeLinear, dynamic_quantize},
};

}  // namespace

std::span<const InferenceRule> quantization_rules() { return kRules; }

}  // namespace sardonyx::onnx
