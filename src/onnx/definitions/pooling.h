// Means over windows, by what the windows hold.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "onnx/definitions/windows.h"

namespace sardonyx::onnx {

// The elements of each window on an axis of their own: [N, C, windows..., K].
Value window_elements(Emit& onnx, Value x, std::span<const WindowAxis> axes, Value fill);

// How many elements each window's mean is taken over, [windows...]: those inside of the image, and
// of the padding where `padding_after` says how much of it there is behind each axis. What
// ceil_mode adds beyond that does not count.
Value window_sizes(Emit& onnx, Value x, std::span<const WindowAxis> axes,
                   const std::optional<std::vector<Expr>>& padding_after);

// A pooling's windows along each spatial axis; their `after` is not set, as ceil_mode goes beyond
// it. Nothing where the padding depends on sizes.
std::optional<std::vector<WindowAxis>> pooling_windows(const Composite& call);

}  // namespace sardonyx::onnx
