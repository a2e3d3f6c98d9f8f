// Images at another size: nearest, linear and cubic interpolation.
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

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

// float32 scales must give the size that PyTorch computed in double.
bool gives_captured_size(const Call& call, Value x, const std::vector<double>& factors) {
  const Shape& result = call.result_shape();
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const Expr from = x.dim(2 + static_cast<std::int64_t>(i)), to = result[2 + i];
    const double factor = factors[i];
    if (static_cast<double>(static_cast<float>(factor)) != factor) return false;
    if (!from.is_constant() || !to.is_constant()) continue;
    if (static_cast<std::int64_t>(static_cast<double>(from.value()) * factor) != to.value()) {
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

Value resized(const Call& call, Emit& onnx, const onnx::ResizeAttributes& attributes) {
  const Value x = image(call);
  const std::vector<double> factors = scale_factors(call);
  if (!factors.empty() && gives_captured_size(call, x, factors)) {
    return onnx.resize(x, {}, scales_value(onnx, factors), {}, attributes);
  }
  return onnx.resize(x, {}, {}, onnx.sizes(call.result_shape()), attributes);
}

Outputs nearest(const Call& call, Emit& onnx) {
  return {resized(call, onnx,
                  {.coordinate_transformation_mode = "asymmetric",
                   .mode = "nearest",
                   .nearest_mode = "floor"})};
}

// floor((i + 0.5) * scale): half_pixel and rounding up at one half.
Outputs nearest_exact(const Call& call, Emit& onnx) {
  return {resized(call, onnx,
                  {.coordinate_transformation_mode = "half_pixel",
                   .mode = "nearest",
                   .nearest_mode = "round_prefer_ceil"})};
}

std::string_view positions(const Call& call) {
  return call.flag("align_corners") ? "align_corners" : "half_pixel";
}

Outputs linear(const Call& call, Emit& onnx) {
  return {
      resized(call, onnx, {.coordinate_transformation_mode = positions(call), .mode = "linear"})};
}

Outputs cubic(const Call& call, Emit& onnx) {
  return {resized(call, onnx,
                  {.coordinate_transformation_mode = positions(call),
                   .cubic_coeff_a = -0.75F,
                   .mode = "cubic"})};
}

// With antialiasing PyTorch's filter leaves out what is outside, and its cubic has another
// constant.
Outputs linear_antialiased(const Call& call, Emit& onnx) {
  return {resized(call, onnx,
                  {.antialias = 1,
                   .coordinate_transformation_mode = positions(call),
                   .exclude_outside = 1,
                   .mode = "linear"})};
}

Outputs cubic_antialiased(const Call& call, Emit& onnx) {
  return {resized(call, onnx,
                  {.antialias = 1,
                   .coordinate_transformation_mode = positions(call),
                   .cubic_coeff_a = -0.5F,
                   .exclude_outside = 1,
                   .mode = "cubic"})};
}

constexpr Row kRows[] = {
    {"aten::_upsample_bicubic2d_aa(Tensor self, SymInt[2] output_size, bool align_corners, float? "
     "scales_h=None, float? scales_w=None) -> Tensor",
     18, cubic_antialiased},
    {"aten::_upsample_bicubic2d_aa.vec(Tensor input, SymInt[]? output_size, bool align_corners, "
     "float[]? scale_factors) -> Tensor",
     18, cubic_antialiased},
    {"aten::_upsample_bilinear2d_aa(Tensor self, SymInt[2] output_size, bool align_corners, float? "
     "scales_h=None, float? scales_w=None) -> Tensor",
     18, linear_antialiased},
    {"aten::_upsample_bilinear2d_aa.vec(Tensor input, SymInt[]? output_size, bool align_corners, "
     "float[]? scale_factors) -> Tensor",
     18, linear_antialiased},
    {"aten::_upsample_nearest_exact1d(Tensor self, SymInt[1] output_size, float? scales=None) -> "
     "Tensor",
     13, nearest_exact},
    {"aten::_upsample_nearest_exact1d.vec(Tensor input, SymInt[]? output_size, float[]? "
     "scale_factors) -> Tensor",
     13, nearest_exact},
    {"aten::_upsample_nearest_exact2d(Tensor self, SymInt[2] output_size, float? scales_h=None, "
     "float? scales_w=None) -> Tensor",
     13, nearest_exact},
    {"aten::_upsample_nearest_exact2d.vec(Tensor input, SymInt[]? output_size, float[]? "
     "scale_factors) -> Tensor",
     13, nearest_exact},
    {"aten::_upsample_nearest_exact3d(Tensor self, SymInt[3] output_size, float? scales_d=None, "
     "float? scales_h=None, float? scales_w=None) -> Tensor",
     13, nearest_exact},
    {"aten::_upsample_nearest_exact3d.vec(Tensor input, SymInt[]? output_size, float[]? "
     "scale_factors) -> Tensor",
     13, nearest_exact},
    {"aten::upsample_bicubic2d(Tensor self, SymInt[2] output_size, bool align_corners, float? "
     "scales_h=None, float? scales_w=None) -> Tensor",
     13, cubic},
    {"aten::upsample_bicubic2d.vec(Tensor input, SymInt[]? output_size, bool align_corners, "
     "float[]? scale_factors) -> Tensor",
     13, cubic},
    {"aten::upsample_bilinear2d(Tensor self, SymInt[2] output_size, bool align_corners, float? "
     "scales_h=None, float? scales_w=None) -> Tensor",
     13, linear},
    {"aten::upsample_bilinear2d.vec(Tensor input, SymInt[]? output_size, bool align_corners, "
     "float[]? scale_factors) -> Tensor",
     13, linear},
    {"aten::upsample_linear1d(Tensor self, SymInt[1] output_size, bool align_corners, float? "
     "scales=None) -> Tensor",
     13, linear},
    {"aten::upsample_linear1d.vec(Tensor input, SymInt[]? output_size, bool align_corners, "
     "float[]? scale_factors) -> Tensor",
     13, linear},
    {"aten::upsample_nearest1d(Tensor self, SymInt[1] output_size, float? scales=None) -> Tensor",
     13, nearest},
    {"aten::upsample_nearest1d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> "
     "Tensor",
     13, nearest},
    {"aten::upsample_nearest2d(Tensor self, SymInt[2] output_size, float? scales_h=None, float? "
     "scales_w=None) -> Tensor",
     13, nearest},
    {"aten::upsample_nearest2d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> "
     "Tensor",
     13, nearest},
    {"aten::upsample_nearest3d(Tensor self, SymInt[3] output_size, float? scales_d=None, float? "
     "scales_h=None, float? scales_w=None) -> Tensor",
     13, nearest},
    {"aten::upsample_nearest3d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> "
     "Tensor",
     13, nearest},
    {"aten::upsample_trilinear3d(Tensor self, SymInt[3] output_size, bool align_corners, float? "
     "scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor",
     13, linear},
    {"aten::upsample_trilinear3d.vec(Tensor input, SymInt[]? output_size, bool align_corners, "
     "float[]? scale_factors) -> Tensor",
     13, linear},
};

}  // namespace

std::span<const Row> resampling_rows() { return kRows; }

}  // namespace sardonyx::aten
