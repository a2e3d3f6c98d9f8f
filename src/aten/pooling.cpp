// Maxima and means over windows.
#include <numeric>

#include "aten/families.h"

namespace sardonyx::aten {
namespace {

using Ints64 = std::vector<std::int64_t>;

struct Window {
  std::size_t axes;
  Ints64 kernel, stride, padding, dilation;
  bool ceil = false;
};

Ints64 filled(Ints64 values, std::size_t axes, std::int64_t otherwise) {
  if (values.empty()) values.push_back(otherwise);
  if (values.size() == 1) values.resize(axes, values.front());
  return values;
}

// max_pool2d -> 2
std::size_t spatial_axes(const Call& call) {
  const std::string name = call.op();
  return static_cast<std::size_t>(name[name.find("_pool") + 5] - '0');
}

Window window_of(const Call& call) {
  Window window;
  window.axes = spatial_axes(call);
  window.kernel = filled(call.integers("kernel_size"), window.axes, 1);
  window.stride = call.integers("stride");
  // An empty stride is the kernel's size.
  window.stride = window.stride.empty() ? window.kernel : filled(window.stride, window.axes, 1);
  window.padding = filled(call.integers("padding"), window.axes, 0);
  const bool dilates = call.captured().schema->find("dilation").has_value();
  window.dilation =
      dilates ? filled(call.integers("dilation"), window.axes, 1) : Ints64(window.axes, 1);
  window.ceil = call.flag("ceil_mode");
  return window;
}

Ints64 both_sides(const Ints64& padding) {
  Ints64 pads = padding;
  pads.insert(pads.end(), padding.begin(), padding.end());
  return pads;
}

// Runs on [N, C, ...]: an input without a batch gets one for the time being.
template <class Apply>
Value batched(Emit& onnx, Value x, std::size_t axes, const Apply& apply) {
  if (x.rank() == static_cast<std::int64_t>(axes) + 2) return apply(x);
  return onnx.squeeze(apply(onnx.unsqueeze(x, {0})), {0});
}

// ONNX Runtime 1.31 moves a Pad by 0 into the MaxPool behind it, which pads by -inf. It leaves
// alone pads that name their axes, and does not look through a Max.
Value kept_from_padding(Emit& onnx, Value x) {
  const onnx::Node* pad = x->producer;
  if (!pad || !pad->is("Pad") || pad->input(3)) return x;
  if (onnx.opset() < 18) return onnx.max({x, x});
  Ints64 axes(static_cast<std::size_t>(x.rank()));
  std::iota(axes.begin(), axes.end(), std::int64_t{0});
  return onnx.pad(pad->input(0), pad->input(1), pad->input(2), onnx.ints(axes),
                  {.mode = pad->string_or("mode", "constant")});
}

Outputs max_pool(const Call& call, Emit& onnx) {
  const Window window = window_of(call);
  return {batched(onnx, call.tensor("self"), window.axes, [&](Value self) {
    const Value x = kept_from_padding(onnx, self);
    return onnx.max_pool(x, {.ceil_mode = window.ceil ? 1 : 0,
                             .dilations = window.dilation,
                             .kernel_shape = window.kernel,
                             .pads = both_sides(window.padding),
                             .strides = window.stride});
  })};
}

// Indices count within one channel's plane; ONNX counts through the whole tensor.
Outputs max_pool_with_indices(const Call& call, Emit& onnx) {
  if (!call.uses_output(1)) return max_pool(call, onnx);
  const Window window = window_of(call);
  const Value self = call.tensor("self");
  const bool unbatched = self.rank() == static_cast<std::int64_t>(window.axes) + 1;
  const Value x = kept_from_padding(onnx, unbatched ? onnx.unsqueeze(self, {0}) : self);
  const onnx::Values both = onnx.max_pool_n(2, x,
                                            {.ceil_mode = window.ceil ? 1 : 0,
                                             .dilations = window.dilation,
                                             .kernel_shape = window.kernel,
                                             .pads = both_sides(window.padding),
                                             .strides = window.stride});
  Expr plane = 1;
  for (std::size_t i = 0; i < window.axes; ++i) {
    plane = plane * x.dim(2 + static_cast<std::int64_t>(i));
  }
  const Value indices = onnx.mod(both[1], onnx.size(plane));
  if (!unbatched) return {both[0], indices};
  return {onnx.squeeze(both[0], {0}), onnx.squeeze(indices, {0})};
}

Outputs avg_pool(const Call& call, Emit& onnx) {
  const Window window = window_of(call);
  const bool overrides =
      call.captured().schema->find("divisor_override") && call.has("divisor_override");
  const bool include = overrides || call.flag("count_include_pad");
  Value result = batched(onnx, call.tensor("self"), window.axes, [&](Value x) {
    return onnx.average_pool(x, {.ceil_mode = window.ceil ? 1 : 0,
                                 .count_include_pad = include ? 1 : 0,
                                 .kernel_shape = window.kernel,
                                 .pads = both_sides(window.padding),
                                 .strides = window.stride});
  });
  if (!overrides) return {result};
  if (window.ceil) call.refuse("avg_pool with divisor_override and ceil_mode");
  double elements = 1;
  for (const std::int64_t size : window.kernel) elements *= static_cast<double>(size);
  const double factor = elements / static_cast<double>(call.integer("divisor_override"));
  return {onnx.mul(result, onnx.scalar(factor, result.dtype()))};
}

// The mean of each cell as a product with a matrix [size, cells]: cell i covers the elements from
// floor(i * size / cells) up to ceil((i + 1) * size / cells).
Value cell_weights(Emit& onnx, Expr size, std::int64_t cells, DType dtype) {
  const auto count = [&](Expr n) {
    return onnx.range(onnx.int_scalar(0), onnx.size(n), onnx.int_scalar(1));
  };
  const Value cell = count(cells), element = onnx.unsqueeze(count(size), {1});
  const Value total = onnx.size(size), number = onnx.int_scalar(cells);
  const Value start = onnx.div(onnx.mul(cell, total), number);
  const Value next = onnx.mul(onnx.add(cell, onnx.int_scalar(1)), total);
  const Value end = onnx.div(onnx.add(next, onnx.int_scalar(cells - 1)), number);
  const Value inside = onnx.and_(onnx.greater_or_equal(element, start), onnx.less(element, end));
  return onnx.div(onnx.cast(inside, dtype), onnx.cast(onnx.sub(end, start), dtype));
}

Outputs adaptive_avg_pool(const Call& call, Emit& onnx) {
  Value x = call.tensor("self");
  const auto axes = static_cast<std::int64_t>(spatial_axes(call));
  const Ints64 cells = filled(call.integers("output_size"), static_cast<std::size_t>(axes), 1);
  Ints64 whole;
  for (std::int64_t i = 0; i < axes; ++i) {
    if (cells[static_cast<std::size_t>(i)] == 1) whole.push_back(x.rank() - axes + i);
  }
  if (static_cast<std::int64_t>(whole.size()) == axes && x.rank() == axes + 2) {
    return {onnx.global_average_pool(x)};
  }
  if (!whole.empty()) x = onnx.reduce("ReduceMean", x, whole, /*keep_dims=*/true);
  for (std::int64_t i = 0; i < axes; ++i) {
    const std::int64_t axis = x.rank() - axes + i, wanted = cells[static_cast<std::size_t>(i)];
    if (wanted == 1 || x.dim(axis).is(wanted)) continue;
    const Value weights = cell_weights(onnx, x.dim(axis), wanted, x.dtype());
    x = onnx.swap_axes(onnx.matmul(onnx.swap_axes(x, axis, -1), weights), axis, -1);
  }
  return {x};
}

constexpr Row kRows[] = {
    {"aten::_adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor", 13,
     adaptive_avg_pool},
    {"aten::_adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor", 13,
     adaptive_avg_pool},
    {"aten::adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor", 13, adaptive_avg_pool},
    {"aten::adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor", 13,
     adaptive_avg_pool},
    {"aten::adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor", 13,
     adaptive_avg_pool},
    {"aten::avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], bool "
     "ceil_mode=False, bool count_include_pad=True) -> Tensor",
     13, avg_pool},
    {"aten::avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool "
     "ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor",
     13, avg_pool},
    {"aten::avg_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, bool "
     "ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor",
     13, avg_pool},
    {"aten::max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], "
     "int[1] "
     "dilation=[1], bool ceil_mode=False) -> Tensor",
     13, max_pool},
    {"aten::max_pool1d_with_indices(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] "
     "padding=[0], int[1] dilation=[1], bool ceil_mode=False) -> (Tensor, Tensor)",
     13, max_pool_with_indices},
    {"aten::max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] "
     "dilation=1, bool ceil_mode=False) -> Tensor",
     13, max_pool},
    {"aten::max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] "
     "padding=0, int[2] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)",
     13, max_pool_with_indices},
    {"aten::max_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] "
     "dilation=1, bool ceil_mode=False) -> Tensor",
     13, max_pool},
    {"aten::max_pool3d_with_indices(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] "
     "padding=0, int[3] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)",
     13, max_pool_with_indices},
};

}  // namespace

std::span<const Row> pooling_rows() { return kRows; }

}  // namespace sardonyx::aten
