// Maxima over windows with their places in the window, which PyTorch's compiler keeps in 8 bits
// until it needs their places in the plane.
#include "aten/families.h"
#include "aten/images/pooling.h"
#include "aten/images/spatial.h"

namespace sardonyx::aten {
namespace {

// Of one spatial axis of images [..., axes]: an index along it and its number of elements.
struct Coordinate {
  Value index;
  Expr size;
};

Value flat_index(Emit& onnx, const std::vector<Coordinate>& coordinates) {
  Value flat = onnx.int_scalar(0);
  for (const Coordinate& c : coordinates) {
    flat = onnx.add(onnx.mul(flat, onnx.size(c.size)), c.index);
  }
  return flat;
}

std::vector<Coordinate> coordinates_of(Emit& onnx, Value flat, std::span<const Expr> sizes) {
  std::vector<Coordinate> found(sizes.size());
  for (std::size_t i = sizes.size(); i-- > 0;) {
    const Value size = onnx.size(sizes[i]);
    found[i] = {i == 0 ? flat : onnx.mod(flat, size), sizes[i]};
    if (i > 0) flat = onnx.div(flat, size);
  }
  return found;
}

// How an axis of windows lies on that of the image.
struct WindowPlace {
  Value start;  // of each window, to broadcast against the result
  Value dilation;
};

WindowPlace window_place(const Call& call, Emit& onnx, Value result, std::size_t axes,
                         std::size_t i) {
  const auto number = [&](std::string_view name, std::int64_t otherwise) {
    return onnx.int_scalar(filled(call.integers(name), axes, otherwise)[i]);
  };
  const auto behind = static_cast<std::int64_t>(axes - 1 - i);
  std::vector<std::int64_t> further;
  for (std::int64_t axis = 1; axis <= behind; ++axis) further.push_back(axis);
  const Value window = onnx.range(result.dim(result.rank() - 1 - behind));
  const Value start = onnx.sub(onnx.mul(window, number("stride", 1)), number("padding", 0));
  return {onnx.unsqueeze(start, further), number("dilation", 1)};
}

Outputs with_offsets(const Call& call, Emit& onnx) {
  Outputs outputs = max_pool(call, onnx);
  if (!call.uses_output(1)) return outputs;
  const std::vector<std::int64_t> kernel = call.integers("kernel_size");
  const Value indices = outputs.at(1), self = call.tensor("self");
  const std::size_t axes = kernel.size();
  const Shape sizes(self.shape().end() - static_cast<std::ptrdiff_t>(axes), self.shape().end());
  std::vector<Coordinate> offsets = coordinates_of(onnx, indices, sizes);
  for (std::size_t i = 0; i < axes; ++i) {
    const WindowPlace place = window_place(call, onnx, indices, axes, i);
    offsets[i] = {onnx.div(onnx.sub(offsets[i].index, place.start), place.dilation), kernel[i]};
  }
  outputs[1] = onnx.cast(flat_index(onnx, offsets), call.result_dtype(1));
  return outputs;
}

Outputs offsets_to_indices(const Call& call, Emit& onnx) {
  const Value offsets = onnx.cast(call.tensor("self"), DType::kInt64);
  const std::vector<Expr> kernel = call.sizes("kernel_size"), sizes = call.sizes("input_size");
  std::vector<Coordinate> places = coordinates_of(onnx, offsets, kernel);
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    const WindowPlace place = window_place(call, onnx, offsets, kernel.size(), i);
    const Value along = onnx.mul(places[i].index, place.dilation);
    places[i] = {onnx.add(along, place.start), sizes.at(sizes.size() - kernel.size() + i)};
  }
  return {flat_index(onnx, places)};
}

constexpr Row kRows[] = {
    {"prims::_low_memory_max_pool_offsets_to_indices(Tensor self, SymInt[] kernel_size, SymInt[] "
     "input_size, SymInt[] stride, SymInt[] padding, SymInt[] dilation) -> Tensor",
     offsets_to_indices},
    {"prims::_low_memory_max_pool_with_offsets(Tensor self, SymInt[] kernel_size, SymInt[] stride, "
     "SymInt[] padding, SymInt[] dilation, bool ceil_mode) -> (Tensor, Tensor)",
     with_offsets},
};

}  // namespace

std::span<const Row> pooling_offset_rows() { return kRows; }

}  // namespace sardonyx::aten
