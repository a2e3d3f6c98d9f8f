// Windows that slide along the spatial axes of an image, gathered.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "onnx/definitions/definitions.h"

namespace sardonyx::onnx {

// Along one spatial axis: `count` windows of `kernel` elements `dilation` apart, each `stride`
// after the one before it. The axis is padded by `before` and `after` elements (negative: cut);
// when `after` is unknown, to where the last window ends.
struct WindowAxis {
  Expr count, kernel;
  std::int64_t stride = 1, dilation = 1;
  Expr before = 0;
  Expr after = {};
};

// Positions [kernel, count] along the padded axis.
Value window_positions(Emit& onnx, const WindowAxis& axis);

// The image [N, C, sizes...], padded (or cut) to what the windows reach.
Value padded_to_windows(Emit& onnx, Value image, std::span<const WindowAxis> axes, Value fill);

// [N, C, sizes...] -> [N, C, kernel..., count...]; what lies outside of the image is `fill`.
Value windows_of(Emit& onnx, Value image, std::span<const WindowAxis> axes, Value fill);

// What `pads` and `auto_pad` say of each spatial axis; nothing where the sizes decide.
struct Padding {
  std::vector<std::int64_t> before, after;
};
std::optional<Padding> padding_of(const Composite& call, std::size_t axes);

// How many windows fit into `size` elements, padding included.
Expr window_count(Expr size, Expr kernel, std::int64_t stride, std::int64_t dilation);

// As many as ceil_mode makes of an axis with room for one more: a window may reach beyond the
// padding at the end, but not begin in it.
Expr window_count_up(Expr size, const WindowAxis& axis);

}  // namespace sardonyx::onnx
