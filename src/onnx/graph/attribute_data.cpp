#include "onnx/graph/attribute_data.h"

#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace sardonyx::onnx {
namespace {

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

std::optional<Tensor> tensor_of(const Attribute::Data& data) { return std::visit(DataOf{}, data); }

}  // namespace sardonyx::onnx
