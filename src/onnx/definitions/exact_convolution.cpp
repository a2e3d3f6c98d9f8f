#include "onnx/definitions/exact_convolution.h"

#include <limits>
#include <numeric>

#include "onnx/definitions/windows.h"

namespace sardonyx::onnx {
namespace {

using Ints64 = std::vector<std::int64_t>;

// The channels of one group.
Expr of_group(Expr channels, Expr groups) {
  const Expr exact = symbolic::exact_quotient(channels, groups);
  return exact.known() ? exact : symbolic::floor_div(channels, groups);
}

// Windows [N, C, kernel..., count...] times weights [groups, M / groups, C / groups * K].
Value product(Emit& onnx, Value x, Value weights, Expr group_outputs, Expr groups,
              std::span<const WindowAxis> axes) {
  Expr kernel = 1, count = 1;
  Shape result = {x.dim(0), group_outputs * groups};
  for (const WindowAxis& axis : axes) {
    kernel = kernel * axis.kernel;
    count = count * axis.count;
    result.push_back(axis.count);
  }
  const Expr group_inputs = of_group(x.dim(1), groups);
  const Value windows = windows_of(onnx, x, axes, onnx.zero(x.dtype()));
  const Value columns = onnx.reshape(windows, {x.dim(0), groups, group_inputs * kernel, count});
  return onnx.reshape(onnx.matmul(weights, columns), result);
}

Value with_bias(Emit& onnx, Value y, Value bias) {
  if (!bias) return y;
  Ints64 spatial(static_cast<std::size_t>(y.rank()) - 2);
  std::iota(spatial.begin(), spatial.end(), 1);
  return onnx.add(y, onnx.unsqueeze(bias, spatial));
}

// `stride - 1` zeros behind each element of an axis: the axis is made [size, stride] and flattened.
Value spread(Emit& onnx, Value x, std::int64_t axis, std::int64_t stride) {
  if (stride == 1) return x;
  Shape shape = x.shape();
  const Expr size = shape[static_cast<std::size_t>(axis)];
  const Value beside = onnx.unsqueeze(x, {axis + 1});
  Ints64 pads(2 * static_cast<std::size_t>(beside.rank()), 0);
  pads[static_cast<std::size_t>(beside.rank() + axis + 1)] = stride - 1;
  const Value wide = onnx.pad(beside, onnx.ints(pads), onnx.zero(x.dtype()));
  shape[static_cast<std::size_t>(axis)] = size * stride;
  return onnx.reshape(wide, shape);
}

// [C, M / groups, kernel...] -> [groups, M / groups, C / groups * K], each kernel turned round.
Value turned_weights(Emit& onnx, Value weight, Expr groups) {
  constexpr std::int64_t kBeforeStart = std::numeric_limits<std::int64_t>::min();
  Expr kernel = 1;
  for (std::int64_t axis = 2; axis < weight.rank(); ++axis) {
    kernel = kernel * weight.dim(axis);
    weight = onnx.slice(weight, axis, -1, kBeforeStart, -1);
  }
  const Expr inputs = of_group(weight.dim(0), groups);
  const Expr outputs = weight.dim(1);
  const Value split = onnx.reshape(weight, {groups, inputs, outputs, kernel});
  return onnx.reshape(onnx.swap_axes(split, 1, 2), {groups, outputs, inputs * kernel});
}

}  // namespace

Value convolved_exactly(Emit& onnx, Value x, Value weight, Value bias,
                        const ConvolutionWindow& window) {
  std::vector<WindowAxis> axes;
  Expr elements = weight.dim(1);
  for (std::size_t i = 0; i < window.stride.size(); ++i) {
    const auto axis = static_cast<std::int64_t>(i) + 2;
    const Expr kernel = weight.dim(axis);
    const Expr size = x.dim(axis) + window.before[i] + window.after[i];
    axes.push_back({window_count(size, kernel, window.stride[i], window.dilation[i]), kernel,
                    window.stride[i], window.dilation[i], window.before[i], window.after[i]});
    elements = elements * kernel;
  }
  const Expr outputs = of_group(weight.dim(0), window.groups);
  const Value weights = onnx.reshape(weight, {window.groups, outputs, elements});
  return with_bias(onnx, product(onnx, x, weights, outputs, window.groups, axes), bias);
}

// A convolution of the input with zeros put between its elements by the kernel turned round.
Value transposed_convolved_exactly(Emit& onnx, Value x, Value weight, Value bias,
                                   const ConvolutionWindow& window) {
  std::vector<WindowAxis> axes;
  for (std::size_t i = 0; i < window.stride.size(); ++i) {
    const auto axis = static_cast<std::int64_t>(i) + 2;
    const Expr kernel = weight.dim(axis);
    const Expr reach = (kernel - 1) * window.dilation[i];
    const Expr before = reach - window.before[i];
    const Expr after = reach - window.after[i] + window.output_padding[i];
    const Expr size = (x.dim(axis) - 1) * window.stride[i] + 1;
    const Expr count = window_count(size + before + after, kernel, 1, window.dilation[i]);
    x = spread(onnx, x, axis, window.stride[i]);
    // The zeros behind the last element are among those that follow.
    const Expr further = after - (window.stride[i] - 1);
    axes.push_back({count, kernel, 1, window.dilation[i], before, further});
  }
  const Value weights = turned_weights(onnx, weight, window.groups);
  return with_bias(onnx, product(onnx, x, weights, weight.dim(1), window.groups, axes), bias);
}

}  // namespace sardonyx::onnx
