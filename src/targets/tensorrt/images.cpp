// Images, windows and normalization that TensorRT's documentation does not list.
#include "onnx/definitions/images.h"

#include <algorithm>
#include <limits>

#include "onnx/definitions/definitions.h"
#include "onnx/definitions/pooling.h"
#include "targets/lowering.h"
#include "targets/tensorrt/tables.h"

namespace sardonyx::targets {
namespace {

constexpr std::string_view kSince = "documentation of 11.0, read";

std::optional<Values> resized(const Use& use, const Rule&) {
  return onnx::spelled_out_resize({use.onnx, use.inputs, use.attributes});
}

bool resizes_otherwise(const Use& use) {
  return use.text("mode", "nearest") == "cubic" || use.integer("antialias", 0) != 0;
}

bool is_volume(const Use& use) { return use.input(0).has_rank() && use.input(0).rank() != 4; }

bool has_several_outputs(const Use& use) { return use.outputs > 1; }

// Windows along one axis; without indices, which would count otherwise.
bool is_row(const Use& use) {
  return use.outputs == 1 && use.input(0).has_rank() && use.input(0).rank() == 3;
}

bool dilates(const Use& use) {
  const auto* dilations = use.integers("dilations");
  return use.outputs == 1 && dilations != nullptr &&
         !std::ranges::all_of(*dilations, [](std::int64_t apart) { return apart == 1; });
}

std::optional<Values> mean_of_windows(const Use& use, const Rule&) {
  return onnx::spelled_out_average_pool({use.onnx, use.inputs, use.attributes});
}

std::optional<Values> norm_of_windows(const Use& use, const Rule&) {
  return onnx::spelled_out_lp_pool({use.onnx, use.inputs, use.attributes});
}

// Before: MaxPool<dilations = [2, 2]>(x)
// After:  ReduceMax(windows of x [N, C, kernel..., count...])
std::optional<Values> maximum_of_windows(const Use& use, const Rule&) {
  Lowering& onnx = use.onnx;
  const Value x = use.input(0);
  if (!x.has_rank()) return std::nullopt;
  const auto axes = onnx::pooling_windows({onnx, use.inputs, use.attributes});
  if (!axes) return std::nullopt;
  const Value lowest = onnx.scalar(-std::numeric_limits<double>::infinity(), x.dtype());
  std::vector<std::int64_t> inside;
  for (std::size_t i = 0; i < axes->size(); ++i) inside.push_back(static_cast<std::int64_t>(i) + 2);
  return Values{onnx.reduce("ReduceMax", onnx::windows_of(onnx, x, *axes, lowest), inside, false)};
}

bool gives_places(const Use& use) {
  return use.outputs > 1 && use.integer("storage_order", 0) == 0;
}

// The place in its plane of element `best` of each window, [N, C, windows...].
Value places_in_plane(Lowering& onnx, Value x, std::span<const onnx::WindowAxis> axes, Value best) {
  std::int64_t behind = 1;
  for (const onnx::WindowAxis& axis : axes) behind *= axis.kernel.value();
  Value places = onnx.int_scalar(0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const onnx::WindowAxis& axis = axes[i];
    behind /= axis.kernel.value();
    const Value step = onnx.mod(onnx.div(best, onnx.int_scalar(behind)), onnx.size(axis.kernel));
    std::vector<std::int64_t> others;
    for (std::size_t j = 1; j < axes.size() - i; ++j)
      others.push_back(static_cast<std::int64_t>(j));
    const Value starts = onnx.mul(onnx.range(axis.count), onnx.int_scalar(axis.stride));
    const Value first = onnx.unsqueeze(onnx.sub(starts, onnx.size(axis.before)), others);
    const Value place = onnx.add(first, onnx.mul(step, onnx.int_scalar(axis.dilation)));
    // Padding is the greatest where a window has nothing but minus infinity, whose first element
    // inside of the image is as great.
    const Value zero = onnx.int_scalar(0);
    const Value first_inside =
        axis.dilation == 1 ? zero : onnx.mod(place, onnx.int_scalar(axis.dilation));
    const Value inside = onnx.where(onnx.less(place, zero), first_inside, place);
    const Value size = onnx.size(x.dim(static_cast<std::int64_t>(i) + 2));
    places = onnx.add(onnx.mul(places, size), inside);
  }
  return places;
}

// Before: values, places = MaxPool(x)
// After:  ReduceMax(windows of x [N, C, windows..., elements]); ArgMax of them, and where these are
std::optional<Values> maximum_and_place(const Use& use, const Rule&) {
  Lowering& onnx = use.onnx;
  const Value x = use.input(0);
  const auto axes = onnx::pooling_windows({onnx, use.inputs, use.attributes});
  if (!axes || !base::is_floating(x.dtype())) return std::nullopt;
  const Value lowest = onnx.scalar(-std::numeric_limits<double>::infinity(), x.dtype());
  const Value elements = onnx::window_elements(onnx, x, *axes, lowest);
  const std::vector<std::int64_t> last = {-1};
  const Value best = onnx.arg_max(elements, {.axis = -1, .keepdims = 0});
  const Expr planes = x.dim(0) * x.dim(1);
  Expr plane = 1;
  onnx::Shape shape = {x.dim(0), x.dim(1)};
  for (std::size_t i = 0; i < axes->size(); ++i) {
    plane = plane * x.dim(static_cast<std::int64_t>(i) + 2);
    shape.push_back(1);
  }
  const Value number = onnx.reshape(onnx.range(planes), shape);
  const Value before = onnx.mul(number, onnx.size(plane));
  return Values{onnx.reduce("ReduceMax", elements, last, false),
                onnx.add(before, places_in_plane(onnx, x, *axes, best))};
}

// What the attribute says of the new axis in front of the row's own.
std::int64_t of_new_axis(std::string_view name) { return name == "pads" ? 0 : 1; }

// Before: MaxPool<kernel_shape = [3]>(x [N, C, size])
// After:  Squeeze(MaxPool<kernel_shape = [1, 3]>(Unsqueeze(x, [2])), [2])
std::optional<Values> as_image(const Use& use, const Rule& rule) {
  Lowering& onnx = use.onnx;
  std::vector<Attribute> attributes;
  for (const Attribute& attribute : use.attributes) {
    attributes.push_back(attribute);
    const auto* list = std::get_if<std::vector<std::int64_t>>(&attribute.data);
    if (list == nullptr) continue;
    std::vector<std::int64_t> wider;
    for (const std::int64_t entry : *list) {
      wider.push_back(of_new_axis(attribute.name));
      wider.push_back(entry);
    }
    attributes.back().data = std::move(wider);
  }
  const Value image = onnx.unsqueeze(use.input(0), {2});
  const Values pooled = onnx.without(rule, use, std::vector{image}, std::move(attributes));
  return Values{onnx.squeeze(pooled.front(), {2})};
}

constexpr std::string_view kSinceOfDilations = "documentation of 10.1, read";
constexpr const char* kWhyOfDilations = "the documentation lists no dilations but of 1";

constexpr Rule kRows[] = {
    {.name = "maximum-with-its-place",
     .op = Op::kMaxPool,
     .reason = Reason::kLacks,
     .when = gives_places,
     .how = maximum_and_place,
     .why = "the documentation lists MaxPool without the output of indices",
     .since = kSince},
    {.name = "mean-of-windows-with-gaps",
     .op = Op::kAveragePool,
     .reason = Reason::kLacks,
     .when = dilates,
     .how = mean_of_windows,
     .why = kWhyOfDilations,
     .since = kSinceOfDilations},
    {.name = "maximum-of-windows-with-gaps",
     .op = Op::kMaxPool,
     .reason = Reason::kLacks,
     .when = dilates,
     .how = maximum_of_windows,
     .why = kWhyOfDilations,
     .since = kSinceOfDilations},
    {.name = "norm-of-windows-with-gaps",
     .op = Op::kLpPool,
     .reason = Reason::kLacks,
     .when = dilates,
     .how = norm_of_windows,
     .why = kWhyOfDilations,
     .since = kSinceOfDilations},
    {.name = "resize-by-cubes-or-filters",
     .op = Op::kResize,
     .reason = Reason::kLacks,
     .when = resizes_otherwise,
     .how = resized,
     .why = "the documentation lists the modes nearest and linear, without antialias",
     .since = kSince},
    {.name = "sample-of-a-volume",
     .op = Op::kGridSample,
     .reason = Reason::kLacks,
     .when = is_volume,
     .how = by_definition,
     .why = "the documentation lists GridSample of 4 axes only",
     .since = kSince,
     .until = "11.5"},
    {.name = "image-of-patches",
     .op = Op::kCol2Im,
     .reason = Reason::kLacks,
     .how = by_definition,
     .why = "the documentation does not list Col2Im",
     .since = kSince},
    {.name = "mean-of-a-row",
     .op = Op::kAveragePool,
     .reason = Reason::kLacks,
     .when = is_row,
     .how = as_image,
     .why = "the documentation lists windows of 2 and 3 axes only",
     .since = kSince},
    {.name = "maximum-of-a-row",
     .op = Op::kMaxPool,
     .reason = Reason::kLacks,
     .when = is_row,
     .how = as_image,
     .why = "the documentation lists windows of 2 and 3 axes only",
     .since = kSince},
    {.name = "statistics-of-a-layer",
     .op = Op::kLayerNormalization,
     .reason = Reason::kLacks,
     .when = has_several_outputs,
     .how = by_definition,
     .why = "the documentation lists the first output of LayerNormalization only",
     .since = kSince},
};

}  // namespace

Rules tensorrt_image_rules() { return kRows; }

}  // namespace sardonyx::targets
