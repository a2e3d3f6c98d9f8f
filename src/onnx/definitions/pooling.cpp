#include "onnx/definitions/pooling.h"

#include <utility>

#include "onnx/definitions/images.h"

namespace sardonyx::onnx {
namespace {

// How many elements of a window lie in [first, limit) of an axis, [count]; `first` is 0 or below.
Value inside_of(Emit& onnx, const WindowAxis& axis, Expr first, Expr limit) {
  if (axis.dilation != 1) {
    const Value place = onnx.sub(window_positions(onnx, axis), onnx.size(axis.before));
    const Value inside = onnx.and_(onnx.greater_or_equal(place, onnx.size(first)),
                                   onnx.less(place, onnx.size(limit)));
    const std::vector<std::int64_t> kernel = {0};
    return onnx.reduce("ReduceSum", onnx.cast(inside, DType::kInt64), kernel, false);
  }
  const Value start = onnx.sub(onnx.mul(onnx.range(axis.count), onnx.int_scalar(axis.stride)),
                               onnx.size(axis.before));
  const Value end = onnx.min({onnx.add(start, onnx.size(axis.kernel)), onnx.size(limit)});
  // No window begins before the padding.
  const bool reached = first == Expr(0) - axis.before;
  return onnx.sub(end, reached ? start : onnx.max({start, onnx.size(first)}));
}

}  // namespace

Value window_elements(Emit& onnx, Value x, std::span<const WindowAxis> axes, Value fill) {
  const Value windows = windows_of(onnx, x, axes, fill);  // [N, C, kernel..., windows...]
  const auto count = static_cast<std::int64_t>(axes.size());
  std::vector<std::int64_t> order = {0, 1};
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

Value window_sizes(Emit& onnx, Value x, std::span<const WindowAxis> axes,
                   const std::optional<std::vector<Expr>>& padding_after) {
  Value sizes = onnx.int_scalar(1);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const WindowAxis& axis = axes[i];
    const Expr size = x.dim(static_cast<std::int64_t>(i) + 2);
    const Value inside =
        padding_after ? inside_of(onnx, axis, Expr(0) - axis.before, size + (*padding_after)[i])
                      : inside_of(onnx, axis, 0, size);
    sizes = onnx.mul(onnx.unsqueeze(sizes, {-1}), inside);
  }
  return sizes;
}

std::optional<std::vector<WindowAxis>> pooling_windows(const Composite& call) {
  const Value x = call.input(0);
  if (!x.has_rank() || x.rank() < 3) return std::nullopt;
  const std::size_t spatial = x.shape().size() - 2;
  const auto padding = padding_of(call, spatial);
  const auto kernel = call.integers("kernel_shape");
  if (!padding || kernel.size() != spatial) return std::nullopt;
  const auto strides = call.integers("strides", spatial, 1);
  const auto dilations = call.integers("dilations", spatial, 1);
  const bool up = call.integer("ceil_mode", 0) != 0;
  std::vector<WindowAxis> axes;
  for (std::size_t i = 0; i < spatial; ++i) {
    WindowAxis axis{.count = {},
                    .kernel = kernel[i],
                    .stride = strides[i],
                    .dilation = dilations[i],
                    .before = padding->before[i],
                    .after = padding->after[i]};
    const Expr size = x.dim(static_cast<std::int64_t>(i) + 2);
    axis.count =
        up ? window_count_up(size, axis)
           : window_count(size + axis.before + axis.after, axis.kernel, axis.stride, axis.dilation);
    axis.after = {};
    axes.push_back(axis);
  }
  return axes;
}

std::optional<Values> spelled_out_average_pool(const Composite& call) {
  Emit& onnx = call.onnx;
  const Value x = call.input(0);
  const auto axes = pooling_windows(call);
  if (!axes) return std::nullopt;
  std::optional<std::vector<Expr>> padding_after;
  if (call.integer("count_include_pad", 0) != 0) {
    const auto after = padding_of(call, axes->size())->after;
    padding_after.emplace(after.begin(), after.end());
  }
  const std::vector<std::int64_t> last = {-1};
  const Value elements = window_elements(onnx, x, *axes, onnx.zero(x.dtype()));
  const Value sum = onnx.reduce("ReduceSum", elements, last, false);
  const Value count = window_sizes(onnx, x, *axes, padding_after);
  return Values{onnx.div(sum, onnx.cast(count, x.dtype()))};
}

// Padding counts as zeros.
std::optional<Values> spelled_out_lp_pool(const Composite& call) {
  Emit& onnx = call.onnx;
  const Value x = call.input(0);
  const auto axes = pooling_windows(call);
  const std::int64_t order = call.integer("p", 2);
  if (!axes || order < 1) return std::nullopt;
  const std::vector<std::int64_t> last = {-1};
  const Value elements = window_elements(onnx, x, *axes, onnx.zero(x.dtype()));
  const auto real = [&](double number) { return onnx.scalar_like(number, x); };
  const Value powers = onnx.pow(onnx.abs(elements), real(static_cast<double>(order)));
  const Value sum = onnx.reduce("ReduceSum", powers, last, false);
  return Values{onnx.pow(sum, real(1 / static_cast<double>(order)))};
}

}  // namespace sardonyx::onnx
