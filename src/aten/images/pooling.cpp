// Maxima and means over windows.
#include "aten/images/pooling.h"

#include <algorithm>
#include <numeric>

#include "aten/families.h"
#include "aten/images/candidates.h"
#include "aten/images/lattice.h"
#include "aten/images/spatial.h"
#include "aten/images/windows.h"

namespace sardonyx::aten {
namespace {

using Ints64 = std::vector<std::int64_t>;

struct Window {
  std::size_t axes;
  Ints64 kernel, stride, padding, dilation;
  bool ceil = false;

  std::int64_t rank() const { return static_cast<std::int64_t>(axes) + 2; }  // with a batch
};

// max_pool2d -> 2; without a digit as many as the kernel has.
std::size_t spatial_axes(const Call& call) {
  const std::string name = call.op();
  const char digit = name[name.find("_pool") + 5];
  return digit == '_' ? call.integers("kernel_size").size() : static_cast<std::size_t>(digit - '0');
}

Window window_of(const Call& call) {
  Window window;
  window.axes = spatial_axes(call);
  window.kernel = filled(call.integers("kernel_size"), window.axes);
  window.stride = call.integers("stride");
  // An empty stride is the kernel's size.
  window.stride = window.stride.empty() ? window.kernel : filled(window.stride, window.axes);
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

// Of the maxima, or of their places where the program takes these alone.
const Shape& pooled_shape(const Call& call) {
  return call.result_shape(call.uses_output(0) ? 0 : 1);
}

// What ceil_mode comes to, an axis: by how much the last window reaches beyond the padding, which
// is below 0 where PyTorch drops the window that would begin there. Nothing for symbolic sizes.
std::optional<Ints64> reach_of(const Call& call, Value x, const Window& window) {
  const Shape& result = pooled_shape(call);
  Ints64 reach;
  for (std::size_t i = 0; i < window.axes; ++i) {
    const Expr size = x.dim(static_cast<std::int64_t>(i) + 2);
    const Expr count = result[result.size() - window.axes + i];
    if (!size.is_constant() || !count.is_constant()) return std::nullopt;
    const std::int64_t extent = window.dilation[i] * (window.kernel[i] - 1) + 1;
    reach.push_back((count.value() - 1) * window.stride[i] + extent - size.value() -
                    2 * window.padding[i]);
  }
  return reach;
}

// Before opset 22 ONNX's inference, if not ONNX Runtime, counts the dropped windows.
bool drops_windows(const Window& window, const std::optional<Ints64>& reach) {
  return window.ceil && reach && std::ranges::min(*reach) < 0;
}

// ONNX Runtime 1.31 moves a Pad by 0 into the MaxPool behind it, which pads by -inf. It leaves
// alone pads that name their axes, and does not look through a Max.
Value kept_from_padding(Emit& onnx, Value x) {
  const onnx::Node* pad = x->producer;
  if (!pad || !pad->is("Pad") || pad->input(3)) return x;
  Ints64 axes(static_cast<std::size_t>(x.rank()));
  std::iota(axes.begin(), axes.end(), std::int64_t{0});
  return onnx.pad(pad->input(0), pad->input(1), pad->input(2), onnx.ints(axes),
                  {.mode = pad->string_or("mode", "constant")});
}

// The windows as gathered ones; the program says how many there are.
std::vector<WindowAxis> window_axes(const Call& call, const Window& window) {
  const Shape& result = pooled_shape(call);
  std::vector<WindowAxis> axes;
  for (std::size_t i = 0; i < window.axes; ++i) {
    axes.push_back({result[result.size() - window.axes + i], window.kernel[i], window.stride[i],
                    window.dilation[i], window.padding[i]});
  }
  return axes;
}

// Windows of integers, of which MaxPool takes those of 8 bits only: [N, C, windows..., K].
Value gathered(Emit& onnx, Value x, std::span<const WindowAxis> axes, Value fill) {
  const Value windows = windows_of(onnx, x, axes, fill);  // [N, C, kernel..., windows...]
  const auto count = static_cast<std::int64_t>(axes.size());
  Ints64 order = {0, 1};
  Shape shape = {x.dim(0), x.dim(1)};
  Expr elements = 1;
  for (std::int64_t i = 0; i < count; ++i) order.push_back(2 + count + i);
  for (std::int64_t i = 0; i < count; ++i) order.push_back(2 + i);
  for (const WindowAxis& axis : axes) {
    shape.push_back(axis.count);
    elements = elements * axis.kernel;
  }
  shape.push_back(elements);
  return onnx.reshape(onnx.transpose(windows, order), shape);
}

// The place in the plane of each window's element: [windows..., K].
Value places_in_plane(Emit& onnx, Value x, std::span<const WindowAxis> axes) {
  const auto count = static_cast<std::int64_t>(axes.size());
  Value places = onnx.int_scalar(0);
  Shape shape;
  Expr elements = 1;
  for (std::int64_t i = 0; i < count; ++i) {
    const WindowAxis& axis = axes[static_cast<std::size_t>(i)];
    const Value position = onnx.sub(onnx.swap_axes(window_positions(onnx, axis), 0, 1),
                                    onnx.size(axis.before));  // [windows, kernel]
    Ints64 others;
    for (std::int64_t j = 0; j < 2 * count; ++j) {
      if (j != i && j != count + i) others.push_back(j);
    }
    places = onnx.add(onnx.mul(places, onnx.size(x.dim(2 + i))), onnx.unsqueeze(position, others));
    shape.push_back(axis.count);
    elements = elements * axis.kernel;
  }
  shape.push_back(elements);
  return onnx.reshape(places, shape);
}

onnx::Values integer_max_pool(const Call& call, Emit& onnx, Value x, const Window& window) {
  const std::vector<WindowAxis> axes = window_axes(call, window);
  const Value least = onnx.int_scalar(base::integer_min(x.dtype()), x.dtype());
  const Value candidates = gathered(onnx, x, axes, least);
  const Best best = best_of(onnx, candidates);
  if (!call.uses_output(1)) return {best.values};
  const Value places = onnx.expand(places_in_plane(onnx, x, axes), candidates.shape());
  const Value chosen = onnx.unsqueeze(best.indices, {-1});
  return {best.values, onnx.squeeze(onnx.gather_elements(places, chosen, {.axis = -1}), {-1})};
}

onnx::MaxPoolAttributes max_pool_attributes(const Window& window, const Ints64& pads) {
  return {.ceil_mode = window.ceil ? 1 : 0,
          .dilations = window.dilation,
          .kernel_shape = window.kernel,
          .pads = pads,
          .strides = window.stride};
}

// Indices count within one channel's plane; ONNX counts through the whole tensor.
onnx::Values floating_max_pool(const Call& call, Emit& onnx, Value image, Window window) {
  const Value x = kept_from_padding(onnx, image);
  Ints64 pads = both_sides(window.padding);
  const auto reach = reach_of(call, x, window);
  if (drops_windows(window, reach)) {
    window.ceil = false;
    for (std::size_t i = 0; i < window.axes; ++i) {
      pads[window.axes + i] += std::max<std::int64_t>((*reach)[i], 0);
    }
  }
  if (!call.uses_output(1)) return {onnx.max_pool(x, max_pool_attributes(window, pads))};
  const onnx::Values both = onnx.max_pool_n(2, x, max_pool_attributes(window, pads));
  const Expr plane = symbolic::product(std::span(x.shape()).subspan(2));
  return {both[0], onnx.mod(both[1], onnx.size(plane))};
}

// How many elements each window's mean is taken over, [windows...]: those inside of the image, with
// `include_padding` also of the padding, but not what ceil_mode adds beyond it.
Value window_sizes(Emit& onnx, Value x, std::span<const WindowAxis> axes, bool include_padding) {
  Value sizes = onnx.int_scalar(1);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const WindowAxis& axis = axes[i];
    const Value start = onnx.sub(onnx.mul(onnx.range(axis.count), onnx.int_scalar(axis.stride)),
                                 onnx.size(axis.before));
    const Expr size = x.dim(static_cast<std::int64_t>(i) + 2);
    const Value limit = onnx.size(include_padding ? size + axis.before : size);
    const Value end = onnx.min({onnx.add(start, onnx.size(axis.kernel)), limit});
    const Value first = include_padding ? start : onnx.max({start, onnx.int_scalar(0)});
    sizes = onnx.mul(onnx.unsqueeze(sizes, {-1}), onnx.sub(end, first));
  }
  return sizes;
}

// ONNX Runtime has AveragePool in float32 only. Sums of integers are divided with what is left over
// dropped.
bool has_average_pool(DType dtype) { return !base::is_integer(dtype) && dtype != DType::kFloat64; }

Value summed_avg_pool(const Call& call, Emit& onnx, Value x, const Window& window,
                      std::optional<std::int64_t> divisor) {
  const std::vector<WindowAxis> axes = window_axes(call, window);
  const Ints64 last = {-1};
  const Value sum =
      onnx.reduce("ReduceSum", gathered(onnx, x, axes, onnx.zero(x.dtype())), last, false);
  const Value count = divisor ? onnx.int_scalar(*divisor)
                              : window_sizes(onnx, x, axes, call.flag("count_include_pad"));
  return onnx.div(sum, onnx.cast(count, x.dtype()));
}

// The mean of padded windows times their size is their sum, which PyTorch divides by a number of
// the caller's.
Value overridden_avg_pool(const Call& call, Emit& onnx, Value x, const Window& window,
                          std::int64_t divisor) {
  const Value padded = padded_to_windows(onnx, x, window_axes(call, window), onnx.zero(x.dtype()));
  const Value mean =
      onnx.average_pool(padded, {.kernel_shape = window.kernel, .strides = window.stride});
  double elements = 1;
  for (const std::int64_t size : window.kernel) elements *= static_cast<double>(size);
  return onnx.mul(mean, onnx.scalar(elements / static_cast<double>(divisor), x.dtype()));
}

Value averaged(const Call& call, Emit& onnx, Value x, Window window) {
  std::optional<std::int64_t> divisor;
  if (call.captured().schema->find("divisor_override")) {
    divisor = call.optional_integer("divisor_override");
  }
  if (!has_average_pool(x.dtype())) return summed_avg_pool(call, onnx, x, window, divisor);
  if (divisor) return overridden_avg_pool(call, onnx, x, window, *divisor);
  const auto reach = reach_of(call, x, window);
  if (drops_windows(window, reach)) {
    if (std::ranges::max(*reach) > 0) return summed_avg_pool(call, onnx, x, window, divisor);
    window.ceil = false;
  }
  return onnx.average_pool(x, {.ceil_mode = window.ceil ? 1 : 0,
                               .count_include_pad = call.flag("count_include_pad") ? 1 : 0,
                               .kernel_shape = window.kernel,
                               .pads = both_sides(window.padding),
                               .strides = window.stride});
}

Outputs avg_pool(const Call& call, Emit& onnx) {
  const Window window = window_of(call);
  return batched(onnx, call.tensor("self"), window.rank(),
                 [&](Value x) { return Outputs{averaged(call, onnx, x, window)}; });
}

constexpr Row kRows[] = {
    {"aten::avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], bool "
     "ceil_mode=False, bool count_include_pad=True) -> Tensor",
     avg_pool},
    {"aten::avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool "
     "ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor",
     avg_pool},
    {"aten::avg_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, bool "
     "ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor",
     avg_pool},
    {"aten::max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], "
     "int[1] "
     "dilation=[1], bool ceil_mode=False) -> Tensor",
     max_pool},
    {"aten::max_pool1d_with_indices(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] "
     "padding=[0], int[1] dilation=[1], bool ceil_mode=False) -> (Tensor, Tensor)",
     max_pool},
    {"aten::max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] "
     "dilation=1, bool ceil_mode=False) -> Tensor",
     max_pool},
    {"aten::max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] "
     "padding=0, int[2] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)",
     max_pool},
    {"aten::max_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] "
     "dilation=1, bool ceil_mode=False) -> Tensor",
     max_pool},
    {"aten::max_pool3d_with_indices(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] "
     "padding=0, int[3] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)",
     max_pool},
};

}  // namespace

Outputs max_pool(const Call& call, Emit& onnx) {
  const Window window = window_of(call);
  return batched(onnx, call.tensor("self"), window.rank(), [&](Value x) {
    return base::is_integer(x.dtype()) ? integer_max_pool(call, onnx, x, window)
                                       : floating_max_pool(call, onnx, x, window);
  });
}

std::span<const Row> pooling_rows() { return kRows; }

}  // namespace sardonyx::aten
