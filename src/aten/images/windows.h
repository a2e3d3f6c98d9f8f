// Windows that slide along the spatial axes of an image, gathered.
#pragma once

#include <span>
#include <vector>

#include "aten/call.h"

namespace sardonyx::aten {

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

// How many windows fit into `size` elements, padding included.
Expr window_count(Expr size, Expr kernel, std::int64_t stride, std::int64_t dilation);

}  // namespace sardonyx::aten
