// Maxima and means over windows.
#include "aten/images/pooling.h"

#include <algorithm>
#include <numeric>

#include "aten/families.h"
#include "aten/images/candidates.h"
#include "aten/images/spatial.h"
#include "aten/reduction/reduction_axes.h"
#include "onnx/definitions/pooling.h"

namespace sardonyx::aten {
namespace {

using onnx::padded_to_windows;
using onnx::window_elements;
using onnx::window_positions;
using onnx::window_sizes;
using onnx::WindowAxis;

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

// The axes that one window covers from end to end, where their sizes are not known, as in
// max_pool1d(x, x.size(2)); nothing where there are other windows.
std::optional<Ints64> covered_axes(const Call& call, Value x) {
  Shape kernel = call.sizes("kernel_size"), stride = call.sizes("stride");
  if (std::ranges::all_of(kernel, &Expr::is_constant)) return std::nullopt;
  const auto is_not = [](std::int64_t plain) {
    return [plain](Expr number) { return !number.is(plain); };
  };
  const bool dilates = call.captured().schema->find("dilation").has_value();
  if (std::ranges::any_of(call.sizes("padding"), is_not(0)) ||
      (dilates && std::ranges::any_of(call.sizes("dilation"), is_not(1)))) {
    return std::nullopt;
  }
  const std::size_t count = spatial_axes(call);
  if (kernel.size() == 1) kernel.resize(count, kernel.front());
  if (stride.empty()) stride = kernel;
  if (stride.size() == 1) stride.resize(count, stride.front());
  Ints64 axes;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t axis =
        x.rank() + static_cast<std::int64_t>(i) - static_cast<std::int64_t>(count);
    if (kernel[i] == x.dim(axis)) {
      axes.push_back(axis);
    } else if (!kernel[i].is(1) || !stride[i].is(1)) {
      return std::nullopt;
    }
  }
  return axes;
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

// ONNX's MaxPool takes integers of 8 bits only.
onnx::Values integer_max_pool(const Call& call, Emit& onnx, Value x, const Window& window) {
  const std::vector<WindowAxis> axes = window_axes(call, window);
  const Value least = onnx.int_scalar(base::integer_min(x.dtype()), x.dtype());
  const Value candidates = window_elements(onnx, x, axes, least);
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
onnx::Values floating_max_pool(const Call& call, Emit& onnx, Value x, const Window& window) {
  const Ints64 pads = both_sides(window.padding);
  if (!call.uses_output(1)) return {onnx.max_pool(x, max_pool_attributes(window, pads))};
  const onnx::Values both = onnx.max_pool_n(2, x, max_pool_attributes(window, pads));
  const Expr plane = symbolic::product(std::span(x.shape()).subspan(2));
  return {both[0], onnx.mod(both[1], onnx.size(plane))};
}

// ONNX's AveragePool takes no integers, sums of which are divided with what is left over dropped.
Value summed_avg_pool(const Call& call, Emit& onnx, Value x, const Window& window,
                      std::optional<std::int64_t> divisor) {
  const std::vector<WindowAxis> axes = window_axes(call, window);
  const Ints64 last = {-1};
  const Value sum =
      onnx.reduce("ReduceSum", window_elements(onnx, x, axes, onnx.zero(x.dtype())), last, false);
  std::optional<std::vector<Expr>> padding;
  if (call.flag("count_include_pad")) padding.emplace(window.padding.begin(), window.padding.end());
  const Value count = divisor ? onnx.int_scalar(*divisor) : window_sizes(onnx, x, axes, padding);
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

Value averaged(const Call& call, Emit& onnx, Value x, const Window& window) {
  std::optional<std::int64_t> divisor;
  if (call.captured().schema->find("divisor_override")) {
    divisor = call.optional_integer("divisor_override");
  }
  if (base::is_integer(x.dtype())) return summed_avg_pool(call, onnx, x, window, divisor);
  if (divisor) return overridden_avg_pool(call, onnx, x, window, *divisor);
  return onnx.average_pool(x, {.ceil_mode = window.ceil ? 1 : 0,
                               .count_include_pad = call.flag("count_include_pad") ? 1 : 0,
                               .kernel_shape = window.kernel,
                               .pads = both_sides(window.padding),
                               .strides = window.stride});
}

Outputs avg_pool(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const bool divides = !call.captured().schema->find("divisor_override") ||
                       !call.optional_integer("divisor_override");
  if (base::is_floating(self.dtype()) && divides) {
    if (const auto axes = covered_axes(call, self)) return {mean_over(onnx, self, *axes, true)};
  }
  const Window window = window_of(call);
  return batched(onnx, self, window.rank(),
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
  if (const Value self = call.tensor("self"); !call.uses_output(1)) {
    if (const auto axes = covered_axes(call, self)) {
      return {extreme_over(onnx, "ReduceMax", self, *axes, true)};
    }
  }
  const Window window = window_of(call);
  return batched(onnx, call.tensor("self"), window.rank(), [&](Value x) {
    return base::is_integer(x.dtype()) ? integer_max_pool(call, onnx, x, window)
                                       : floating_max_pool(call, onnx, x, window);
  });
}

std::span<const Row> pooling_rows() { return kRows; }

}  // namespace sardonyx::aten
