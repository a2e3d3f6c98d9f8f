#include "proto/reader/constant_reader.h"

#include "onnx/gen/op.h"
#include "onnx/graph/attribute_data.h"

namespace sardonyx::proto {
namespace {

using base::DType;
using onnx::Tensor;

// Sizes, axes, pads and indices of code are shorter than this; tables that are looked up in are
// not.
constexpr std::int64_t kLargestNumbers = 1024;  // bytes

}  // namespace

std::optional<Tensor> constant_of(const onnx::Node& node) {
  if (!node.is(onnx::Op::kConstant) || node.attributes.size() != 1 || node.outputs.size() != 1 ||
      !node.inputs.empty())
    return std::nullopt;
  const onnx::Attribute& attribute = node.attributes.front();
  if (!attribute.reference.empty() || !attribute.name.starts_with("value")) return std::nullopt;
  return onnx::tensor_of(attribute.data);
}

bool is_weight(const Tensor& tensor) {
  if (tensor.dtype == DType::kString) return false;
  if (base::is_floating(tensor.dtype)) return tensor.element_count() > 1;
  return tensor.byte_count() > kLargestNumbers;
}

}  // namespace sardonyx::proto
