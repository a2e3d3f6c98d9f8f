// Resize by gathered neighbors, and its antialiasing filters as matrices.
#include <cmath>

#include "onnx/definitions/images.h"
#include "onnx/definitions/resampling.h"
#include "onnx/infer/inference.h"

namespace sardonyx::onnx {
namespace {

// floor(size * scale), where the scale is a fraction whose parts are small.
Expr scaled(Expr size, double scale) {
  constexpr std::int64_t kDenominator = 1 << 20;
  if (size.is_constant())
    return static_cast<std::int64_t>(std::floor(static_cast<double>(size.value()) * scale));
  const double numerator = scale * static_cast<double>(kDenominator);
  if (numerator != std::floor(numerator) || numerator > 1e12) return {};
  std::int64_t above = static_cast<std::int64_t>(numerator), below = kDenominator;
  for (; above % 2 == 0 && below % 2 == 0; above /= 2) below /= 2;
  return symbolic::floor_div(size * above, below);
}

std::vector<std::int64_t> resized_axes(const Composite& call, Value x) {
  std::vector<std::int64_t> axes = call.integers("axes");
  for (std::int64_t& axis : axes) axis = axis < 0 ? axis + x.rank() : axis;
  if (!axes.empty()) return axes;
  for (std::int64_t axis = 0; axis < x.rank(); ++axis) axes.push_back(axis);
  return axes;
}

// The axes that get another size or are read at other places; nothing where a size is not known.
std::optional<std::vector<ResampledAxis>> axes_of(const Composite& call, Value x) {
  const Value scales = call.input(2), sizes = call.input(3);
  const std::vector<std::int64_t> axes = resized_axes(call, x);
  const auto factors = scales && scales.is_constant() ? scales.constant()->reals() : std::nullopt;
  const auto wanted = sizes ? contents_of(sizes.info()) : std::nullopt;
  const std::size_t given = factors ? factors->size() : wanted ? wanted->size() : 0;
  if (given != axes.size()) return std::nullopt;
  std::vector<ResampledAxis> found;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const Expr from = x.dim(axes[i]);
    ResampledAxis axis{.axis = axes[i], .from = from, .to = {}, .factor = {}};
    if (factors) axis.factor = (*factors)[i];
    axis.to = factors ? scaled(from, *axis.factor) : (*wanted)[i];
    if (!axis.from.known() || !axis.to.known()) return std::nullopt;
    const bool kept = factors ? *axis.factor == 1 : axis.to == axis.from;
    if (!kept) found.push_back(axis);
  }
  return found;
}

// How places are found and neighbors weighed; nothing for other ways.
std::optional<Neighbors> neighbors_of(const Composite& call) {
  const std::string mode = call.text("mode", "nearest");
  const std::string places = call.text("coordinate_transformation_mode", "half_pixel");
  const std::string nearest = call.text("nearest_mode", "round_prefer_floor");
  if (mode == "nearest") {
    if (places == "asymmetric" && nearest == "floor") return Neighbors::kFloor;
    if (places == "half_pixel" && nearest == "round_prefer_ceil") return Neighbors::kNearest;
    return std::nullopt;
  }
  if (places != "half_pixel" && places != "align_corners") return std::nullopt;
  if (mode == "linear") return Neighbors::kLinear;
  const bool plain = call.real("cubic_coeff_a", -0.75F) == -0.75F;
  if (mode == "cubic" && plain && call.integer("exclude_outside", 0) == 0) return Neighbors::kCubic;
  return std::nullopt;
}

// The filter of the last two axes; only one that leaves out what is outside.
std::optional<Filter> filter_of(const Composite& call) {
  const std::string mode = call.text("mode", "nearest");
  if (call.integer("exclude_outside", 0) == 0 ||
      call.text("coordinate_transformation_mode", "half_pixel") != "half_pixel")
    return std::nullopt;
  if (mode == "linear") return linear_filter();
  if (mode == "cubic" && call.real("cubic_coeff_a", -0.75F) == -0.5F) return cubic_filter();
  return std::nullopt;
}

std::optional<Values> by_filter(const Composite& call, Value x,
                                const std::vector<ResampledAxis>& given) {
  const auto filter = filter_of(call);
  if (!filter || x.rank() < 2) return std::nullopt;
  std::vector<ResampledAxis> axes;
  for (const std::int64_t axis : {x.rank() - 2, x.rank() - 1})
    axes.push_back({.axis = axis, .from = x.dim(axis), .to = x.dim(axis), .factor = {}});
  for (const ResampledAxis& axis : given) {
    if (axis.axis < x.rank() - 2) return std::nullopt;
    axes[static_cast<std::size_t>(axis.axis - x.rank() + 2)] = axis;
  }
  return Values{filtered(call.onnx, x, axes, *filter, false)};
}

}  // namespace

std::optional<Values> spelled_out_resize(const Composite& call) {
  const Value x = call.input(0);
  if (!x || !x.has_rank() || base::is_integer(x.dtype())) return std::nullopt;
  if (call.text("keep_aspect_ratio_policy", "stretch") != "stretch") return std::nullopt;
  const auto axes = axes_of(call, x);
  if (!axes) return std::nullopt;
  if (call.integer("antialias", 0) != 0) return by_filter(call, x, *axes);
  const auto neighbors = neighbors_of(call);
  if (!neighbors) return std::nullopt;
  const bool align_corners = call.text("coordinate_transformation_mode") == "align_corners";
  return Values{resampled(call.onnx, x, *axes, *neighbors, align_corners)};
}

}  // namespace sardonyx::onnx
