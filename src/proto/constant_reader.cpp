#include "proto/constant_reader.h"

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "onnx/gen/op.h"

namespace sardonyx::proto {
namespace {

using base::DType;
using onnx::Tensor;

// Sizes, axes, pads and indices of code are shorter than this; tables that are looked up in are
// not.
constexpr std::int64_t kLargestNumbers = 1024;  // bytes

std::int64_t count_of(const auto& values) { return static_cast<std::int64_t>(values.size()); }

Tensor of_floats(std::span<const float> values, std::vector<std::int64_t> dims) {
  return Tensor::of_bytes(DType::kFloat32, std::move(dims), std::as_bytes(values));
}

Tensor of_strings(std::vector<std::string> values, std::vector<std::int64_t> dims) {
  Tensor tensor;
  tensor.dtype = DType::kString;
  tensor.dims = std::move(dims);
  tensor.strings = std::move(values);
  return tensor;
}

struct DataOf {
  using Result = std::optional<Tensor>;
  Result operator()(const std::shared_ptr<const Tensor>& value) const {
    return value != nullptr ? Result(*value) : std::nullopt;
  }
  Result operator()(std::int64_t value) const { return Tensor::of_int(value); }
  Result operator()(float value) const { return of_floats({&value, 1}, {}); }
  Result operator()(const std::string& value) const { return of_strings({value}, {}); }
  Result operator()(const std::vector<std::int64_t>& values) const {
    return Tensor::of_ints(values, {count_of(values)});
  }
  Result operator()(const std::vector<float>& values) const {
    return of_floats(values, {count_of(values)});
  }
  Result operator()(const std::vector<std::string>& values) const {
    return of_strings(values, {count_of(values)});
  }
  Result operator()(const auto& /*value*/) const { return std::nullopt; }
};

}  // namespace

std::optional<Tensor> constant_of(const onnx::Node& node) {
  if (!node.is(onnx::Op::kConstant) || node.attributes.size() != 1 || node.outputs.size() != 1 ||
      !node.inputs.empty())
    return std::nullopt;
  const onnx::Attribute& attribute = node.attributes.front();
  if (!attribute.reference.empty() || !attribute.name.starts_with("value")) return std::nullopt;
  return std::visit(DataOf{}, attribute.data);
}

bool is_weight(const Tensor& tensor) {
  if (tensor.dtype == DType::kString) return false;
  if (base::is_floating(tensor.dtype)) return tensor.element_count() > 1;
  return tensor.byte_count() > kLargestNumbers;
}

}  // namespace sardonyx::proto
