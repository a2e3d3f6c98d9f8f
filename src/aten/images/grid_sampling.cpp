// Images read at the points of a grid, and the grids of affine maps.
#include <numeric>

#include "aten/elementwise/operands.h"
#include "aten/families.h"
#include "onnx/definitions/grids.h"

namespace sardonyx::aten {
namespace {

Outputs grid_sampler(const Call& call, Emit& onnx) {
  const DType dtype = computing_type(call.result_dtype());
  const Value image = onnx.cast(call.tensor("input"), dtype);
  const Value grid = onnx.cast(call.tensor("grid"), dtype);
  constexpr std::string_view kModes[] = {"linear", "nearest", "cubic"};
  constexpr std::string_view kPaddings[] = {"zeros", "border", "reflection"};
  const auto numbered = [&](std::string_view name) {
    return static_cast<std::size_t>(call.integer(name));
  };
  const Value read = onnx.grid_sample(image, grid,
                                      {.align_corners = call.flag("align_corners") ? 1 : 0,
                                       .mode = kModes[numbered("interpolation_mode")],
                                       .padding_mode = kPaddings[numbered("padding_mode")]});
  return {cast_to_result(onnx, call, read)};
}

// theta [N, axes, axes + 1] -> [N, sizes..., axes], coordinates listed from the last axis.
Outputs affine_grid_generator(const Call& call, Emit& onnx) {
  const DType dtype = computing_type(call.result_dtype());
  const Value theta = onnx.cast(call.tensor("theta"), dtype);
  const Shape& out = call.result_shape();
  const auto axes = static_cast<std::int64_t>(out.size()) - 2;
  // Over all places: [N, 1..., axes, axes + 1].
  std::vector<std::int64_t> places(static_cast<std::size_t>(axes));
  std::iota(places.begin(), places.end(), std::int64_t{1});
  const Value map = onnx.unsqueeze(theta, places);
  Value sum = onnx.select(map, -1, axes);
  for (std::int64_t i = 0; i < axes; ++i) {
    // Column i belongs to axis axes - 1 - i of the places.
    const Value count = onnx.size(out[static_cast<std::size_t>(axes - i)]);
    Value along = onnx::element_centers(onnx, count, call.flag("align_corners"), dtype);
    std::vector<std::int64_t> behind(static_cast<std::size_t>(i) + 1);
    std::iota(behind.begin(), behind.end(), std::int64_t{1});
    along = onnx.unsqueeze(along, behind);
    sum = onnx.add(sum, onnx.mul(onnx.select(map, -1, i), along));
  }
  return {cast_to_result(onnx, call, sum)};
}

constexpr Row kRows[] = {
    {"aten::_grid_sampler_2d_cpu_fallback(Tensor input, Tensor grid, int interpolation_mode, int "
     "padding_mode, bool align_corners) -> Tensor",
     grid_sampler},
    {"aten::affine_grid_generator(Tensor theta, SymInt[] size, bool align_corners) -> Tensor",
     affine_grid_generator},
    {"aten::grid_sampler(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool "
     "align_corners) -> Tensor",
     grid_sampler},
    {"aten::grid_sampler_2d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, "
     "bool align_corners) -> Tensor",
     grid_sampler},
    {"aten::grid_sampler_3d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, "
     "bool align_corners) -> Tensor",
     grid_sampler},
};

}  // namespace

std::span<const Row> grid_sampling_rows() { return kRows; }

}  // namespace sardonyx::aten
