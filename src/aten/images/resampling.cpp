// Images at another size: nearest, linear and cubic interpolation.
#include "onnx/definitions/resampling.h"

#include <algorithm>
#include <optional>

#include "aten/families.h"

namespace sardonyx::aten {
namespace {

using onnx::Filter;
using onnx::filtered;
using onnx::Neighbors;
using onnx::resampled;
using onnx::ResampledAxis;

// The plain overloads call the image `self` and give a size; the .vec ones call it `input` and give
// a size or scale factors.
bool is_vec(const Call& call) { return call.captured().schema->overload == "vec"; }

Value image(const Call& call) { return call.tensor(is_vec(call) ? "input" : "self"); }

// The scale factors where PyTorch computes positions from them; empty where it takes the sizes'
// ratio.
std::vector<double> scale_factors(const Call& call) {
  if (is_vec(call)) {
    return call.has("scale_factors") ? call.numbers("scale_factors") : std::vector<double>{};
  }
  std::vector<double> factors;
  for (const char* name : {"scales", "scales_d", "scales_h", "scales_w"}) {
    if (!call.captured().schema->find(name)) continue;
    if (!call.has(name)) return {};
    factors.push_back(call.number(name));
  }
  return factors;
}

// Resize steps by the reciprocal of a float32 factor, PyTorch by the reciprocal of a double: the
// same only where float32 holds the factor.
bool exact_in_float32(const std::vector<double>& factors) {
  return std::ranges::all_of(factors, [](double factor) {
    return static_cast<double>(static_cast<float>(factor)) == factor;
  });
}

// Sizes that Resize finds by itself from the factors. The plain overloads may give any other.
bool gives_captured_size(const Call& call, const std::vector<double>& factors) {
  const Value x = image(call);
  const Shape& result = call.result_shape();
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const Expr from = x.dim(2 + static_cast<std::int64_t>(i)), to = result[2 + i];
    if (!from.is_constant() || !to.is_constant()) {
      if (is_vec(call)) continue;
      return false;
    }
    if (static_cast<std::int64_t>(static_cast<double>(from.value()) * factors[i]) != to.value()) {
      return false;
    }
  }
  return true;
}

Value scales_value(Emit& onnx, const std::vector<double>& factors) {
  std::vector<float> scales = {1.0F, 1.0F};
  for (const double factor : factors) scales.push_back(static_cast<float>(factor));
  return onnx.constant(onnx::Tensor::of_bytes(DType::kFloat32,
                                              {static_cast<std::int64_t>(scales.size())},
                                              std::as_bytes(std::span(scales))));
}

bool aligns_corners(const Call& call) {
  return call.captured().schema->find("align_corners") && call.flag("align_corners");
}

std::vector<ResampledAxis> resampled_axes(const Call& call) {
  const Value x = image(call);
  const Shape& result = call.result_shape();
  const std::vector<double> factors = scale_factors(call);
  std::vector<ResampledAxis> axes;
  for (std::int64_t axis = 2; axis < x.rank(); ++axis) {
    const auto i = static_cast<std::size_t>(axis);
    std::optional<double> factor;
    // PyTorch steps by the sizes' ratio where the factor is not positive.
    if (!factors.empty() && factors[i - 2] > 0) factor = factors[i - 2];
    axes.push_back({axis, x.dim(axis), result[i], factor});
  }
  return axes;
}

// Whether an axis may come out so many times as long by a factor that says otherwise. Where sizes
// are unknown, axes of two elements or more do so by these factors only.
bool may_come_out(const ResampledAxis& axis, std::int64_t times) {
  if (!axis.factor) return false;
  const double factor = *axis.factor, whole = static_cast<double>(times);
  if (!axis.from.is_constant() || !axis.to.is_constant()) {
    return factor > whole && factor < whole + 0.5;
  }
  return axis.to == axis.from * times && factor != whole;
}

// Whether Resize places the elements where PyTorch does. With align_corners only the sizes count.
bool has_positions(const Call& call) {
  const std::vector<double> factors = scale_factors(call);
  if (aligns_corners(call) || factors.empty()) return true;
  return exact_in_float32(factors) && gives_captured_size(call, factors);
}

// Whether it does so where PyTorch's kernels leave the factors of kept axes aside, or of doubled
// ones too.
bool has_whole_positions(const Call& call, const std::vector<ResampledAxis>& axes) {
  return has_positions(call) && std::ranges::none_of(axes, [](const ResampledAxis& axis) {
           for (std::int64_t times = axis.whole; times > 0; --times)
             if (may_come_out(axis, times)) return true;
           return false;
         });
}

Value resized(const Call& call, Emit& onnx, const onnx::ResizeAttributes& attributes) {
  const Value x = image(call);
  const std::vector<double> factors = scale_factors(call);
  const bool by_factors = !factors.empty() && !aligns_corners(call);
  if (by_factors) return onnx.resize(x, {}, scales_value(onnx, factors), {}, attributes);
  return onnx.resize(x, {}, {}, onnx.sizes(call.result_shape()), attributes);
}

// `whole`: up to how many times as long an axis may come out for its factor not to count. Of
// integers, Resize does not say how it rounds what it mixes.
Value by_neighbors(const Call& call, Emit& onnx, Neighbors neighbors, std::int64_t whole,
                   const onnx::ResizeAttributes& attributes) {
  std::vector<ResampledAxis> axes = resampled_axes(call);
  for (ResampledAxis& axis : axes) axis.whole = aligns_corners(call) ? 0 : whole;
  const bool mixes = neighbors == Neighbors::kLinear || neighbors == Neighbors::kCubic;
  if (has_whole_positions(call, axes) && !(mixes && base::is_integer(image(call).dtype()))) {
    return resized(call, onnx, attributes);
  }
  return resampled(onnx, image(call), axes, neighbors, aligns_corners(call));
}

// Images repeat the elements of an axis that comes out as long, or twice as long.
Outputs nearest(const Call& call, Emit& onnx) {
  return {by_neighbors(call, onnx, Neighbors::kFloor, image(call).rank() == 4 ? 2 : 0,
                       {.coordinate_transformation_mode = "asymmetric",
                        .mode = "nearest",
                        .nearest_mode = "floor"})};
}

// floor((i + 0.5) * scale): half_pixel and rounding up at one half.
Outputs nearest_exact(const Call& call, Emit& onnx) {
  return {by_neighbors(call, onnx, Neighbors::kNearest, 0,
                       {.coordinate_transformation_mode = "half_pixel",
                        .mode = "nearest",
                        .nearest_mode = "round_prefer_ceil"})};
}

std::string_view positions(const Call& call) {
  return aligns_corners(call) ? "align_corners" : "half_pixel";
}

Outputs linear(const Call& call, Emit& onnx) {
  return {by_neighbors(call, onnx, Neighbors::kLinear, 1,
                       {.coordinate_transformation_mode = positions(call), .mode = "linear"})};
}

Outputs cubic(const Call& call, Emit& onnx) {
  return {by_neighbors(call, onnx, Neighbors::kCubic, 0,
                       {.coordinate_transformation_mode = positions(call),
                        .cubic_coeff_a = -0.75F,
                        .mode = "cubic"})};
}

Value by_filter(const Call& call, Emit& onnx, const Filter& filter) {
  return filtered(onnx, image(call), resampled_axes(call), filter, aligns_corners(call));
}

// With antialiasing PyTorch's filter leaves out what is outside, and its cubic has another
// constant. align_corners moves only the ends of the filter, which Resize cannot say.
bool has_filters(const Call& call) {
  return !aligns_corners(call) && has_positions(call) && !base::is_integer(image(call).dtype());
}

Outputs linear_antialiased(const Call& call, Emit& onnx) {
  if (!has_filters(call)) return {by_filter(call, onnx, onnx::linear_filter())};
  return {resized(call, onnx,
                  {.antialias = 1,
                   .coordinate_transformation_mode = positions(call),
                   .exclude_outside = 1,
                   .mode = "linear"})};
}

Outputs cubic_antialiased(const Call& call, Emit& onnx) {
  if (!has_filters(call)) return {by_filter(call, onnx, onnx::cubic_filter())};
  return {resized(call, onnx,
                  {.antialias = 1,
                   .coordinate_transformation_mode = positions(call),
                   .cubic_coeff_a = -0.5F,
                   .exclude_outside = 1,
                   .mode = "cubic"})};
}

Outputs lanczos_antialiased(const Call& call, Emit& onnx) {
  return {by_filter(call, onnx, onnx::lanczos_filter())};
}

constexpr Row kRows[] = {
    {"aten::_upsample_bicubic2d_aa(Tensor self, SymInt[2] output_size, bool align_corners, float? "
     "scales_h=None, float? scales_w=None) -> Tensor",
     cubic_antialiased},
    {"aten::_upsample_bicubic2d_aa.vec(Tensor input, SymInt[]? output_size, bool align_corners, "
     "float[]? scale_factors) -> Tensor",
     cubic_antialiased},
    {"aten::_upsample_bilinear2d_aa(Tensor self, SymInt[2] output_size, bool align_corners, float? "
     "scales_h=None, float? scales_w=None) -> Tensor",
     linear_antialiased},
    {"aten::_upsample_bilinear2d_aa.vec(Tensor input, SymInt[]? output_size, bool align_corners, "
     "float[]? scale_factors) -> Tensor",
     linear_antialiased},
    {"aten::_upsample_lanczos2d_aa(Tensor self, SymInt[2] output_size, bool align_corners, float? "
     "scales_h=None, float? scales_w=None) -> Tensor",
     lanczos_antialiased},
    {"aten::_upsample_lanczos2d_aa.vec(Tensor input, SymInt[]? output_size, bool align_corners, "
     "float[]? scale_factors) -> Tensor",
     lanczos_antialiased},
    {"aten::_upsample_nearest_exact1d(Tensor self, SymInt[1] output_size, float? scales=None) -> "
     "Tensor",
     nearest_exact},
    {"aten::_upsample_nearest_exact1d.vec(Tensor input, SymInt[]? output_size, float[]? "
     "scale_factors) -> Tensor",
     nearest_exact},
    {"aten::_upsample_nearest_exact2d(Tensor self, SymInt[2] output_size, float? scales_h=None, "
     "float? scales_w=None) -> Tensor",
     nearest_exact},
    {"aten::_upsample_nearest_exact2d.vec(Tensor input, SymInt[]? output_size, float[]? "
     "scale_factors) -> Tensor",
     nearest_exact},
    {"aten::_upsample_nearest_exact3d(Tensor self, SymInt[3] output_size, float? scales_d=None, "
     "float? scales_h=None, float? scales_w=None) -> Tensor",
     nearest_exact},
    {"aten::_upsample_nearest_exact3d.vec(Tensor input, SymInt[]? output_size, float[]? "
     "scale_factors) -> Tensor",
     nearest_exact},
    {"aten::upsample_bicubic2d(Tensor self, SymInt[2] output_size, bool align_corners, float? "
     "scales_h=None, float? scales_w=None) -> Tensor",
     cubic},
    {"aten::upsample_bicubic2d.vec(Tensor input, SymInt[]? output_size, bool align_corners, "
     "float[]? scale_factors) -> Tensor",
     cubic},
    {"aten::upsample_bilinear2d(Tensor self, SymInt[2] output_size, bool align_corners, float? "
     "scales_h=None, float? scales_w=None) -> Tensor",
     linear},
    {"aten::upsample_bilinear2d.vec(Tensor input, SymInt[]? output_size, bool align_corners, "
     "float[]? scale_factors) -> Tensor",
     linear},
    {"aten::upsample_linear1d(Tensor self, SymInt[1] output_size, bool align_corners, float? "
     "scales=None) -> Tensor",
     linear},
    {"aten::upsample_linear1d.vec(Tensor input, SymInt[]? output_size, bool align_corners, "
     "float[]? scale_factors) -> Tensor",
     linear},
    {"aten::upsample_nearest1d(Tensor self, SymInt[1] output_size, float? scales=None) -> Tensor",
     nearest},
    {"aten::upsample_nearest1d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> "
     "Tensor",
     nearest},
    {"aten::upsample_nearest2d(Tensor self, SymInt[2] output_size, float? scales_h=None, float? "
     "scales_w=None) -> Tensor",
     nearest},
    {"aten::upsample_nearest2d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> "
     "Tensor",
     nearest},
    {"aten::upsample_nearest3d(Tensor self, SymInt[3] output_size, float? scales_d=None, float? "
     "scales_h=None, float? scales_w=None) -> Tensor",
     nearest},
    {"aten::upsample_nearest3d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> "
     "Tensor",
     nearest},
    {"aten::upsample_trilinear3d(Tensor self, SymInt[3] output_size, bool align_corners, float? "
     "scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor",
     linear},
    {"aten::upsample_trilinear3d.vec(Tensor input, SymInt[]? output_size, bool align_corners, "
     "float[]? scale_factors) -> Tensor",
     linear},
};

}  // namespace

std::span<const Row> resampling_rows() { return kRows; }

}  // namespace sardonyx::aten
