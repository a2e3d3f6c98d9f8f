// Pooling undone: maxima put back where they came from.
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
Outputs unpool(const Call& call, Emit& onnx, std::size_t axes) {
  const Value values = flat_planes(onnx, call.tensor("self"), axes);
  const Value indices = flat_planes(onnx, call.tensor("indices"), axes);
  const Shape& result = call.result_shape();
  Shape planes(result.begin(), result.end() - static_cast<std::ptrdiff_t>(axes));
  planes.push_back(symbolic::product(std::span(result).subspan(result.size() - axes)));
  const Value empty = onnx.full(planes, onnx.zero(values.dtype()));
  const Value filled = onnx.scatter_elements(empty, indices, values, {.axis = -1});
  return {onnx.reshape(filled, result)};
}

Outputs max_unpool2d(const Call& call, Emit& onnx) { return unpool(call, onnx, 2); }
Outputs max_unpool3d(const Call& call, Emit& onnx) { return unpool(call, onnx, 3); }

constexpr Row kRows[] = {
    {"aten::max_unpool2d(Tensor self, Tensor indices, SymInt[2] output_size) -> Tensor", 13,
     max_unpool2d},
    {"aten::max_unpool3d(Tensor self, Tensor indices, SymInt[3] output_size, int[3] stride, int[3] "
     "padding) -> Tensor",
     13, max_unpool3d},
};

}  // namespace

std::span<const Row> unpooling_rows() { return kRows; }

}  // namespace sardonyx::aten
