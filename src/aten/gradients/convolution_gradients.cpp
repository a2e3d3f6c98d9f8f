// Gradients of convolutions, which are convolutions themselves.
#include <algorithm>

#include "aten/families.h"
#include "aten/images/convolution.h"
#include "aten/images/spatial.h"

namespace sardonyx::aten {
namespace {

using Ints64 = std::vector<std::int64_t>;

// What the forward pass was called with, less its output padding: that shows in the sizes.
ConvolutionWindow forward_window(const Call& call) {
  const auto axes = static_cast<std::size_t>(call.tensor("weight").rank() - 2);
  ConvolutionWindow window;
  window.stride = filled(call.integers("stride"), axes);
  window.dilation = filled(call.integers("dilation"), axes);
  window.before = window.after = filled(call.integers("padding"), axes);
  window.output_padding = Ints64(axes, 0);
  window.groups = call.size("groups");
  return window;
}

// As many elements of each spatial axis as `like` has, from `first` on.
Value cut_like(Emit& onnx, Value x, const Ints64& first, Value like) {
  for (std::int64_t axis = 2; axis < x.rank(); ++axis) {
    const Expr start = first[static_cast<std::size_t>(axis) - 2], size = like.dim(axis);
    if (start.is(0) && x.dim(axis) == size) continue;
    x = onnx.slice(x, axis, start, start + size);
  }
  return x;
}

// The transposed convolution gives every element that a window can reach. The forward pass saw the
// padding too, and at the end less than a stride that no window reached, which has gradient 0.
Value input_gradient(Emit& onnx, Value grad, Value weight, Value input,
                     const ConvolutionWindow& forward) {
  ConvolutionWindow window = forward;
  const std::size_t axes = window.stride.size();
  window.before = window.after = Ints64(axes, 0);
  Value reached = convolved(onnx, grad, weight, {}, window, true);
  Ints64 pads(2 * (axes + 2), 0);
  for (std::size_t i = 0; i < axes; ++i) {
    const std::int64_t unreached = forward.stride[i] - 1 - forward.after[i];
    pads[axes + 4 + i] = std::max<std::int64_t>(unreached, 0);
  }
  if (std::ranges::any_of(pads, [](std::int64_t pad) { return pad > 0; })) {
    reached = onnx.pad(reached, onnx.ints(pads), onnx.zero(reached.dtype()));
  }
  return cut_like(onnx, reached, forward.before, input);
}

// [N, groups * C, sizes...] -> [C, groups * N, sizes...]
Value channels_first(Emit& onnx, Value x, Expr groups) {
  if (groups.is(1)) return onnx.swap_axes(x, 0, 1);
  const Expr channels = symbolic::floor_div(x.dim(1), groups);
  Shape split = x.shape(), merged = x.shape();
  split[1] = groups;
  split.insert(split.begin() + 2, channels);
  merged[0] = channels;
  merged[1] = x.dim(0) * groups;
  return onnx.reshape(onnx.swap_axes(onnx.reshape(x, split), 0, 2), merged);
}

// Of `wide`, which the windows lie on, and `narrow`, which has one element a window: each element
// of the kernel sums their products over samples and windows. That convolves over samples, with
// stride and dilation exchanged; elements that no window used may be left over at the end.
Value weight_gradient(Emit& onnx, Value wide, Value narrow, Value weight,
                      const ConvolutionWindow& forward) {
  ConvolutionWindow window = forward;
  std::swap(window.stride, window.dilation);
  const Value samples = channels_first(onnx, wide, forward.groups);
  const Value kernels = onnx.swap_axes(narrow, 0, 1);
  const Value sums = convolved(onnx, samples, kernels, {}, window, false);
  return cut_like(onnx, onnx.swap_axes(sums, 0, 1), Ints64(forward.stride.size(), 0), weight);
}

Ints64 all_but_channels(Value grad) {
  Ints64 axes = {0};
  for (std::int64_t axis = 2; axis < grad.rank(); ++axis) axes.push_back(axis);
  return axes;
}

Outputs convolution_backward(const Call& call, Emit& onnx) {
  const Value grad = call.tensor("grad_output"), input = call.tensor("input");
  const Value weight = call.tensor("weight");
  const ConvolutionWindow window = forward_window(call);
  const bool transposed = call.flag("transposed");
  Outputs gradients(3);
  if (call.uses_output(0)) {
    gradients[0] = transposed ? cut_like(onnx, convolved(onnx, grad, weight, {}, window, false),
                                         Ints64(window.stride.size(), 0), input)
                              : input_gradient(onnx, grad, weight, input, window);
  }
  if (call.uses_output(1)) {
    gradients[1] = transposed ? weight_gradient(onnx, grad, input, weight, window)
                              : weight_gradient(onnx, input, grad, weight, window);
  }
  if (call.uses_output(2)) {
    gradients[2] = onnx.reduce("ReduceSum", grad, all_but_channels(grad), false);
  }
  return gradients;
}

constexpr Row kRows[] = {
    {"aten::convolution_backward(Tensor grad_output, Tensor input, Tensor weight, SymInt[]? "
     "bias_sizes, SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] "
     "output_padding, SymInt groups, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
     convolution_backward},
};

}  // namespace

std::span<const Row> convolution_gradient_rows() { return kRows; }

}  // namespace sardonyx::aten
