// Overlapping patches summed back into an image.
#include <algorithm>

#include "onnx/definitions/images.h"
#include "onnx/definitions/windows.h"
#include "onnx/infer/inference.h"

namespace sardonyx::onnx {
namespace {

// Axis `axis` of x holds [kernel * count] elements of windows, which are summed where they lie on
// the `size` elements of the image. Each element of the image gathers the one that every kernel
// element has for it, or a zero: so no infinity meets a weight of 0.
Value folded(Emit& onnx, Value x, std::int64_t axis, const WindowAxis& windows, Expr size) {
  const Expr elements = windows.kernel * windows.count;
  std::vector<Expr> pads(2 * static_cast<std::size_t>(x.rank()), Expr(0));
  pads[static_cast<std::size_t>(x.rank() + axis)] = 1;
  const Value with_zero = onnx.pad(x, onnx.sizes(pads), onnx.zero(x.dtype()));
  const Value place = onnx.unsqueeze(onnx.range(size), {1});
  const Value inside = onnx.range(windows.kernel), zero = onnx.int_scalar(0);
  const Value start = onnx.sub(onnx.add(place, onnx.size(windows.before)),
                               onnx.mul(inside, onnx.int_scalar(windows.dilation)));
  const Value window = onnx.div(start, onnx.int_scalar(windows.stride));
  const Value begins =
      onnx.and_(onnx.greater_or_equal(start, zero),
                onnx.equal(onnx.mul(window, onnx.int_scalar(windows.stride)), start));
  const Value read = onnx.and_(begins, onnx.less(window, onnx.size(windows.count)));
  const Value index = onnx.add(onnx.mul(inside, onnx.size(windows.count)), window);
  const Value gathered =
      onnx.gather(with_zero, onnx.where(read, index, onnx.size(elements)), {.axis = axis});
  const std::vector<std::int64_t> kernel = {axis + 1};
  return onnx.reduce("ReduceSum", gathered, kernel, false);
}

}  // namespace

// [N, C * kernel, windows] -> [N, C, sizes...]. Opset 18.
std::optional<Values> spelled_out_col2im(const Composite& call) {
  Emit& onnx = call.onnx;
  const Value x = call.input(0);
  const auto sizes = contents_of(call.input(1).info());
  const auto kernel = contents_of(call.input(2).info());
  if (!x.has_rank() || x.rank() != 3 || !sizes || !kernel || kernel->size() != sizes->size() ||
      !std::ranges::all_of(*sizes, &Expr::known) || !std::ranges::all_of(*kernel, &Expr::known))
    return std::nullopt;
  const std::size_t spatial = sizes->size();
  const auto padding = padding_of(call, spatial);
  if (!padding) return std::nullopt;
  const auto strides = call.integers("strides", spatial, 1);
  const auto dilations = call.integers("dilations", spatial, 1);
  std::vector<WindowAxis> windows;
  // [N, C, kernel..., windows...], then each kernel axis before its windows.
  const Expr channels = symbolic::floor_div(x.dim(1), symbolic::product(*kernel));
  Shape apart = {x.dim(0), channels}, merged = apart;
  std::vector<std::int64_t> order = {0, 1};
  for (std::size_t i = 0; i < spatial; ++i) {
    const Expr size = (*sizes)[i] + padding->before[i] + padding->after[i];
    windows.push_back({window_count(size, (*kernel)[i], strides[i], dilations[i]), (*kernel)[i],
                       strides[i], dilations[i], padding->before[i]});
    apart.push_back((*kernel)[i]);
    merged.push_back((*kernel)[i] * windows.back().count);
    order.push_back(static_cast<std::int64_t>(2 + i));
    order.push_back(static_cast<std::int64_t>(2 + spatial + i));
  }
  for (const WindowAxis& axis : windows) apart.push_back(axis.count);
  Value y = onnx.reshape(onnx.transpose(onnx.reshape(x, apart), order), merged);
  for (std::size_t i = 0; i < spatial; ++i)
    y = folded(onnx, y, static_cast<std::int64_t>(2 + i), windows[i], (*sizes)[i]);
  return Values{y};
}

}  // namespace sardonyx::onnx
