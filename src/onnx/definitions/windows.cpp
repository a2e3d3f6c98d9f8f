#include "onnx/definitions/windows.h"

#include <algorithm>
#include <numeric>

namespace sardonyx::onnx {

Expr window_count(Expr size, Expr kernel, std::int64_t stride, std::int64_t dilation) {
  return symbolic::floor_div(size - (kernel - 1) * dilation - 1, stride) + 1;
}

Expr window_count_up(Expr size, const WindowAxis& axis) {
  const Expr room = size + axis.before + axis.after - (axis.kernel - 1) * axis.dilation - 1;
  const Expr reaching = symbolic::ceil_div(room, axis.stride) + 1;
  return symbolic::min(reaching, symbolic::ceil_div(size + axis.before, axis.stride));
}

std::optional<Padding> padding_of(const Composite& call, std::size_t axes) {
  const std::string automatic = call.text("auto_pad", "NOTSET");
  std::vector<std::int64_t> pads(2 * axes, 0);
  if (automatic == "NOTSET")
    pads = call.integers("pads", 2 * axes);
  else if (automatic != "VALID")
    return std::nullopt;
  if (pads.size() != 2 * axes) return std::nullopt;
  const auto middle = pads.begin() + static_cast<std::ptrdiff_t>(axes);
  return Padding{{pads.begin(), middle}, {middle, pads.end()}};
}

Value window_positions(Emit& onnx, const WindowAxis& axis) {
  const Value starts = onnx.mul(onnx.range(axis.count), onnx.int_scalar(axis.stride));
  const Value inside = onnx.mul(onnx.range(axis.kernel), onnx.int_scalar(axis.dilation));
  return onnx.add(onnx.unsqueeze(inside, {1}), starts);
}

Value padded_to_windows(Emit& onnx, Value image, std::span<const WindowAxis> axes, Value fill) {
  std::vector<Expr> pads(4 + 2 * axes.size(), Expr(0));
  const std::size_t after = 2 + axes.size();
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const WindowAxis& axis = axes[i];
    const Expr reach = (axis.count - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1;
    pads[2 + i] = axis.before;
    const Expr missing = reach - axis.before - image.dim(static_cast<std::int64_t>(i) + 2);
    pads[after + 2 + i] = axis.after.known() ? axis.after : missing;
  }
  if (std::ranges::all_of(pads, [](Expr size) { return size.is(0); })) return image;
  return onnx.pad(image, onnx.sizes(pads), fill);
}

Value windows_of(Emit& onnx, Value image, std::span<const WindowAxis> axes, Value fill) {
  Value x = padded_to_windows(onnx, image, axes, fill);
  std::vector<std::int64_t> order = {0, 1};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = 2 + 2 * static_cast<std::int64_t>(i);
    x = onnx.gather(x, window_positions(onnx, axes[i]), {.axis = axis});
    order.insert(order.begin() + 2 + static_cast<std::ptrdiff_t>(i), axis);
    order.push_back(axis + 1);
  }
  return onnx.transpose(x, order);
}

}  // namespace sardonyx::onnx
