// Gradients of what reads each spatial axis by itself: resampling and average pooling. Read as a
// matrix [to, from] an axis, forwards multiplies by its transpose, and backwards by the matrix.
#include <algorithm>

#include "aten/elementwise/operands.h"
#include "aten/families.h"
#include "aten/images/spatial.h"
#include "onnx/definitions/resampling.h"

namespace sardonyx::aten {
namespace {

using onnx::neighbor_matrix;
using onnx::Neighbors;
using onnx::ResampledAxis;

Value spread_along(Emit& onnx, Value grad, std::int64_t axis, Value matrix) {
  return onnx.swap_axes(onnx.matmul(onnx.swap_axes(grad, axis, -1), matrix), axis, -1);
}

// The factor by which the forward pass stepped; nothing where it took the sizes' ratio.
std::optional<double> step_factor(const Call& call, std::string_view name) {
  const std::optional<double> factor = call.optional_number(name);
  return factor && *factor > 0 ? factor : std::nullopt;
}

std::vector<ResampledAxis> resampled_axes(const Call& call, Neighbors neighbors) {
  const Value grad = call.tensor("grad_output");
  const std::vector<Expr> sizes = call.sizes("input_size");
  std::vector<ResampledAxis> axes;
  for (const char* name : {"scales", "scales_d", "scales_h", "scales_w"}) {
    if (!call.captured().schema->find(name)) continue;
    const auto axis = static_cast<std::int64_t>(axes.size()) + 2;
    // The kernels of gradients take the whole step of an axis that is kept or, by nearest
    // neighbors, doubled, on images of any rank.
    axes.push_back({.axis = axis,
                    .from = sizes.at(static_cast<std::size_t>(axis)),
                    .to = grad.dim(axis),
                    .factor = step_factor(call, name),
                    .whole = neighbors == Neighbors::kFloor ? 2 : 1});
  }
  return axes;
}

// PyTorch hands on the gradient of an image that cubic resampling has not made larger or smaller,
// whatever the factors.
bool keeps_sizes(const Call& call, const std::vector<ResampledAxis>& axes) {
  const bool kept =
      std::ranges::all_of(axes, [](const auto& axis) { return axis.from == axis.to; });
  const bool open = std::ranges::all_of(axes, [](const ResampledAxis& axis) {
    const bool constant = axis.from.is_constant() && axis.to.is_constant();
    return axis.from == axis.to || (!constant && axis.factor && *axis.factor > 1);
  });
  if (open && !kept) {
    call.refuse("the gradient of cubic resampling by factors to sizes that are not known",
                "make the sizes of the image static");
  }
  return kept;
}

Outputs read_back(const Call& call, Emit& onnx, Neighbors neighbors) {
  const bool align_corners =
      call.captured().schema->find("align_corners") && call.flag("align_corners");
  Value grad = onnx.cast(call.tensor("grad_output"), computing_type(call.result_dtype()));
  const std::vector<ResampledAxis> axes = resampled_axes(call, neighbors);
  if (neighbors == Neighbors::kCubic && keeps_sizes(call, axes)) {
    return {cast_to_result(onnx, call, grad)};
  }
  for (const ResampledAxis& axis : axes) {
    const Value matrix = neighbor_matrix(onnx, axis, neighbors, align_corners, grad.dtype());
    grad = spread_along(onnx, grad, axis.axis, matrix);
  }
  return {cast_to_result(onnx, call, grad)};
}

Outputs nearest(const Call& call, Emit& onnx) { return read_back(call, onnx, Neighbors::kFloor); }
Outputs nearest_exact(const Call& call, Emit& onnx) {
  return read_back(call, onnx, Neighbors::kNearest);
}
Outputs linear(const Call& call, Emit& onnx) { return read_back(call, onnx, Neighbors::kLinear); }
Outputs cubic(const Call& call, Emit& onnx) { return read_back(call, onnx, Neighbors::kCubic); }

// The elements [start, end) that each window averages, and by how many it divides: int64 [to, 1].
struct Windows {
  Value start, end, count;
};

Value mean_matrix(Emit& onnx, const Windows& windows, Expr from, DType dtype) {
  const Value element = onnx.range(from);
  const Value inside =
      onnx.and_(onnx.greater_or_equal(element, windows.start), onnx.less(element, windows.end));
  return onnx.div(onnx.cast(inside, dtype), onnx.cast(windows.count, dtype));
}

Value window_places(Emit& onnx, Expr count) { return onnx.unsqueeze(onnx.range(count), {1}); }

// Floor of o * from / to, up to the ceiling of (o + 1) * from / to.
Windows adaptive_windows(Emit& onnx, Expr from, Expr to) {
  const Value place = window_places(onnx, to), size = onnx.size(from), count = onnx.size(to);
  const Value start = onnx.div(onnx.mul(place, size), count);
  const Value reach =
      onnx.add(onnx.mul(onnx.add(place, onnx.int_scalar(1)), size), onnx.size(to - 1));
  const Value end = onnx.div(reach, count);
  return {start, end, onnx.sub(end, start)};
}

Outputs adaptive_means(const Call& call, Emit& onnx, std::int64_t axes) {
  Value grad = onnx.cast(call.tensor("grad_output"), computing_type(call.result_dtype()));
  const Value self = call.tensor("self");
  for (std::int64_t axis = -axes; axis < 0; ++axis) {
    const Expr from = self.dim(self.rank() + axis);
    const Windows windows = adaptive_windows(onnx, from, grad.dim(grad.rank() + axis));
    grad = spread_along(onnx, grad, axis, mean_matrix(onnx, windows, from, grad.dtype()));
  }
  return {cast_to_result(onnx, call, grad)};
}

Outputs adaptive_means2d(const Call& call, Emit& onnx) { return adaptive_means(call, onnx, 2); }
Outputs adaptive_means3d(const Call& call, Emit& onnx) { return adaptive_means(call, onnx, 3); }

struct MeanAxis {
  std::int64_t kernel, stride, padding;
};

// Windows end with the padding; its elements count where `count_include_pad` says so. A divisor of
// the caller's own replaces all counts.
Windows mean_windows(const Call& call, Emit& onnx, const MeanAxis& axis, Expr from, Expr to) {
  const Value first = onnx.sub(onnx.mul(window_places(onnx, to), onnx.int_scalar(axis.stride)),
                               onnx.int_scalar(axis.padding));
  const Value last =
      onnx.min({onnx.add(first, onnx.int_scalar(axis.kernel)), onnx.size(from + axis.padding)});
  const Value start = onnx.max({first, onnx.int_scalar(0)});
  const Value end = onnx.min({last, onnx.size(from)});
  if (call.has("divisor_override")) return {start, end, onnx.int_scalar(1)};
  const bool padding_counts = call.flag("count_include_pad");
  return {start, end, padding_counts ? onnx.sub(last, first) : onnx.sub(end, start)};
}

Outputs means(const Call& call, Emit& onnx, std::int64_t axes) {
  Value grad = onnx.cast(call.tensor("grad_output"), computing_type(call.result_dtype()));
  const Value self = call.tensor("self");
  const auto count = static_cast<std::size_t>(axes);
  const auto kernel = filled(call.integers("kernel_size"), count);
  const auto given = call.integers_or_empty("stride");
  const auto stride = given.empty() ? kernel : filled(given, count);
  const auto padding = filled(call.integers("padding"), count, 0);
  for (std::int64_t axis = -axes; axis < 0; ++axis) {
    const auto i = static_cast<std::size_t>(axis + axes);
    const MeanAxis shape = {kernel[i], stride[i], padding[i]};
    const Expr from = self.dim(self.rank() + axis);
    const Windows windows = mean_windows(call, onnx, shape, from, grad.dim(grad.rank() + axis));
    grad = spread_along(onnx, grad, axis, mean_matrix(onnx, windows, from, grad.dtype()));
  }
  if (const auto divisor = call.optional_integer("divisor_override")) {
    grad = onnx.div(grad, onnx.scalar(static_cast<double>(*divisor), grad.dtype()));
  }
  return {cast_to_result(onnx, call, grad)};
}

Outputs means2d(const Call& call, Emit& onnx) { return means(call, onnx, 2); }
Outputs means3d(const Call& call, Emit& onnx) { return means(call, onnx, 3); }

constexpr Row kRows[] = {
    {"aten::_adaptive_avg_pool2d_backward(Tensor grad_output, Tensor self) -> Tensor",
     adaptive_means2d},
    {"aten::_adaptive_avg_pool3d_backward(Tensor grad_output, Tensor self) -> Tensor",
     adaptive_means3d},
    {"aten::avg_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] "
     "stride, int[2] padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> "
     "Tensor",
     means2d},
    {"aten::avg_pool3d_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] "
     "stride, int[3] padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> "
     "Tensor",
     means3d},
    {"aten::_upsample_nearest_exact1d_backward(Tensor grad_output, SymInt[1] output_size, "
     "SymInt[3] input_size, float? scales=None) -> Tensor",
     nearest_exact},
    {"aten::_upsample_nearest_exact2d_backward(Tensor grad_output, SymInt[2] output_size, "
     "SymInt[4] input_size, float? scales_h=None, float? scales_w=None) -> Tensor",
     nearest_exact},
    {"aten::_upsample_nearest_exact3d_backward(Tensor grad_output, SymInt[3] output_size, "
     "SymInt[5] input_size, float? scales_d=None, float? scales_h=None, float? scales_w=None) -> "
     "Tensor",
     nearest_exact},
    {"aten::upsample_bicubic2d_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] "
     "input_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor",
     cubic},
    {"aten::upsample_bilinear2d_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] "
     "input_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor",
     linear},
    {"aten::upsample_linear1d_backward(Tensor grad_output, SymInt[1] output_size, SymInt[3] "
     "input_size, bool align_corners, float? scales=None) -> Tensor",
     linear},
    {"aten::upsample_nearest1d_backward(Tensor grad_output, SymInt[1] output_size, SymInt[3] "
     "input_size, float? scales=None) -> Tensor",
     nearest},
    {"aten::upsample_nearest2d_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] "
     "input_size, float? scales_h=None, float? scales_w=None) -> Tensor",
     nearest},
    {"aten::upsample_nearest3d_backward(Tensor grad_output, SymInt[3] output_size, SymInt[5] "
     "input_size, float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor",
     nearest},
    {"aten::upsample_trilinear3d_backward(Tensor grad_output, SymInt[3] output_size, SymInt[5] "
     "input_size, bool align_corners, float? scales_d=None, float? scales_h=None, float? "
     "scales_w=None) -> Tensor",
     linear},
};

}  // namespace

std::span<const Row> axis_gradient_rows() { return kRows; }

}  // namespace sardonyx::aten
