#include "targets/onnxruntime/fusions/joined_weights.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/dtype.h"

namespace sardonyx::targets {
namespace {

using onnx::Tensor;

bool can_join(const Tensor& tensor, const Tensor& first) {
  return tensor.data != nullptr && !tensor.missing && tensor.as_it_lies() &&
         tensor.dtype == first.dtype && !tensor.dims.empty() && tensor.dims.size() <= 2 &&
         tensor.dims.size() == first.dims.size() && tensor.dims.front() == first.dims.front();
}

struct Matrix {
  std::int64_t rows, columns, row_step, column_step;  // steps in elements
};

Matrix as_matrix(const Tensor& tensor) {
  const bool is_vector = tensor.dims.size() == 1;
  const std::int64_t columns = tensor.dims.back();
  if (tensor.strides.empty()) return {is_vector ? 1 : tensor.dims[0], columns, columns, 1};
  if (is_vector) return {1, columns, 0, tensor.strides[0]};
  return {tensor.dims[0], columns, tensor.strides[0], tensor.strides[1]};
}

}  // namespace

std::optional<Tensor> joined(std::span<const Tensor* const> tensors) {
  const Tensor& first = *tensors.front();
  const auto size = static_cast<std::size_t>(base::byte_size(first.dtype, 1));
  std::int64_t columns = 0;
  for (const Tensor* tensor : tensors) {
    if (!can_join(*tensor, first)) return std::nullopt;
    columns += tensor->dims.back();
  }
  std::vector<std::int64_t> dims = first.dims;
  dims.back() = columns;
  const auto width = static_cast<std::size_t>(columns) * size;
  std::vector<std::byte> bytes(width * static_cast<std::size_t>(as_matrix(first).rows));
  std::size_t begin = 0;
  for (const Tensor* tensor : tensors) {
    const Matrix from = as_matrix(*tensor);
    for (std::int64_t row = 0; row < from.rows; ++row) {
      std::byte* to = bytes.data() + static_cast<std::size_t>(row) * width + begin;
      for (std::int64_t column = 0; column < from.columns; ++column, to += size) {
        const std::int64_t at = row * from.row_step + column * from.column_step;
        std::memcpy(to, tensor->data + at * static_cast<std::int64_t>(size), size);
      }
    }
    begin += static_cast<std::size_t>(from.columns) * size;
  }
  return Tensor::of_bytes(first.dtype, std::move(dims), bytes);
}

}  // namespace sardonyx::targets
