// Pooling undone: maxima put back where they came from.
#include <optional>

#include "aten/elementwise/operands.h"
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

// The plane of each channel as one axis: [..., spatial axes] -> [..., elements].
Value flat_planes(Emit& onnx, Value x, std::size_t axes) {
  const Shape& shape = x.shape();
  const std::size_t lead = shape.size() - axes;
  Shape flat(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(lead));
  flat.push_back(symbolic::product(std::span(shape).subspan(lead)));
  return onnx.reshape(x, flat);
}

// Indices count within one channel's plane of the result; the rest of it is zero.
Value put_back(const Call& call, Emit& onnx, Value values, std::size_t axes,
               std::optional<std::string_view> reduction) {
  const Value updates = flat_planes(onnx, values, axes);
  const Value indices = flat_planes(onnx, call.tensor("indices"), axes);
  const Shape& result = call.result_shape();
  Shape planes(result.begin(), result.end() - static_cast<std::ptrdiff_t>(axes));
  planes.push_back(symbolic::product(std::span(result).subspan(result.size() - axes)));
  const Value empty = onnx.full(planes, onnx.zero(values.dtype()));
  const Value filled =
      onnx.scatter_elements(empty, indices, updates, {.axis = -1, .reduction = reduction});
  return onnx.reshape(filled, result);
}

Outputs max_unpool2d(const Call& call, Emit& onnx) {
  return {put_back(call, onnx, call.tensor("self"), 2, {})};
}
Outputs max_unpool3d(const Call& call, Emit& onnx) {
  return {put_back(call, onnx, call.tensor("self"), 3, {})};
}

// Windows may share their largest element, whose gradient is the sum of theirs: of half types in
// float32.
Outputs to_maxima(const Call& call, Emit& onnx, std::size_t axes) {
  const Value grad = call.tensor("grad_output");
  const Value wide = onnx.cast(grad, computing_type(grad.dtype()));
  return {onnx.cast(put_back(call, onnx, wide, axes, "add"), grad.dtype())};
}

Outputs max_pool2d_backward(const Call& call, Emit& onnx) { return to_maxima(call, onnx, 2); }
Outputs max_pool3d_backward(const Call& call, Emit& onnx) { return to_maxima(call, onnx, 3); }

constexpr Row kRows[] = {
    {"aten::adaptive_max_pool2d_backward(Tensor grad_output, Tensor self, Tensor indices) -> "
     "Tensor",
     max_pool2d_backward},
    {"aten::adaptive_max_pool3d_backward(Tensor grad_output, Tensor self, Tensor indices) -> "
     "Tensor",
     max_pool3d_backward},
    {"aten::fractional_max_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, "
     "int[2] output_size, Tensor indices) -> Tensor",
     max_pool2d_backward},
    {"aten::fractional_max_pool3d_backward(Tensor grad_output, Tensor self, int[3] kernel_size, "
     "int[3] output_size, Tensor indices) -> Tensor",
     max_pool3d_backward},
    {"aten::max_pool2d_with_indices_backward(Tensor grad_output, Tensor self, int[2] kernel_size, "
     "int[2] stride, int[2] padding, int[2] dilation, bool ceil_mode, Tensor indices) -> Tensor",
     max_pool2d_backward},
    {"aten::max_pool3d_with_indices_backward(Tensor grad_output, Tensor self, int[3] kernel_size, "
     "int[3] stride, int[3] padding, int[3] dilation, bool ceil_mode, Tensor indices) -> Tensor",
     max_pool3d_backward},
    {"aten::max_unpool2d(Tensor self, Tensor indices, SymInt[2] output_size) -> Tensor",
     max_unpool2d},
    {"aten::max_unpool3d(Tensor self, Tensor indices, SymInt[3] output_size, int[3] stride, int[3] "
     "padding) -> Tensor",
     max_unpool3d},
};

}  // namespace

std::span<const Row> unpooling_rows() { return kRows; }

}  // namespace sardonyx::aten
