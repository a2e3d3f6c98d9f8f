#include "onnx/definitions/lattice.h"

#include <numeric>

namespace sardonyx::onnx {

Lattice lattice_of(Emit& onnx, Value image) {
  std::vector<std::int64_t> channels_last = {0};
  for (std::int64_t axis = 2; axis < image.rank(); ++axis) channels_last.push_back(axis);
  channels_last.push_back(1);
  const Shape sizes(image.shape().begin() + 2, image.shape().end());
  const Expr places = image.dim(0) * symbolic::product(sizes);
  return {onnx.reshape(onnx.transpose(image, channels_last), {places, image.dim(1)}), sizes};
}

Taps linear_taps(Emit& onnx, Value coordinate) {
  const DType dtype = coordinate.dtype();
  const Value c = onnx.unsqueeze(coordinate, {-1});
  const Value at = onnx.add(onnx.floor(c), onnx.cast(onnx.ints({0, 1}), dtype));
  return {at, onnx.sub(onnx.one(dtype), onnx.abs(onnx.sub(c, at)))};
}

Value interpolated(Emit& onnx, const Lattice& lattice, Value image, std::vector<Taps> taps) {
  const auto axes = static_cast<std::int64_t>(taps.size());
  // Each axis has its taps on an axis of its own behind the places.
  const auto beside = [&](Value value, std::int64_t own) {
    std::vector<std::int64_t> others;
    for (std::int64_t axis = -axes; axis < 0; ++axis) {
      if (axis != own - axes) others.push_back(axis);
    }
    return onnx.unsqueeze(value, others);
  };
  std::vector<std::int64_t> tap_axes(taps.size());
  std::iota(tap_axes.begin(), tap_axes.end(), -axes);
  Value row = onnx.unsqueeze(image, tap_axes), weight;
  for (std::int64_t axis = 0; axis < axes; ++axis) {
    const Taps& own = taps[static_cast<std::size_t>(axis)];
    const Expr size = lattice.sizes[static_cast<std::size_t>(axis)];
    const DType dtype = own.at.dtype();
    const Value zero = onnx.zero(dtype), last = onnx.real_size(size - 1, dtype);
    // False for NaN, which no cast could make an index.
    const Value inside =
        onnx.and_(onnx.greater_or_equal(own.at, zero), onnx.less_or_equal(own.at, last));
    const Value index = onnx.cast(onnx.where(inside, own.at, zero), DType::kInt64);
    const Value share = beside(onnx.where(inside, own.weight, zero), axis);
    row = onnx.add(onnx.mul(row, onnx.size(size)), beside(index, axis));
    weight = weight ? onnx.mul(weight, share) : share;
  }
  const Value read = onnx.gather(lattice.rows, row, {.axis = 0});  // [places..., taps..., C]
  const Value terms = onnx.mul(read, onnx.unsqueeze(weight, {-1}));
  for (std::int64_t& axis : tap_axes) axis -= 1;
  return onnx.reduce("ReduceSum", terms, tap_axes, false);
}

}  // namespace sardonyx::onnx
