// Images read at the points of a grid, and the grids of affine maps.
#include <algorithm>
#include <numeric>

#include "aten/elementwise/operands.h"
#include "aten/families.h"
#include "aten/images/lattice.h"

namespace sardonyx::aten {
namespace {

enum class Mode : std::uint8_t { kLinear, kNearest, kCubic };
enum class Padding : std::uint8_t { kZeros, kBorder, kReflection };

struct Sampling {
  Mode mode;
  Padding padding;
  bool align_corners;
};

Sampling sampling_of(const Call& call) {
  return {static_cast<Mode>(call.integer("interpolation_mode")),
          static_cast<Padding>(call.integer("padding_mode")), call.flag("align_corners")};
}

// One axis of the image, with the arithmetic of PyTorch's grid_sampler.
class GridAxis {
 public:
  GridAxis(Emit& onnx, const Sampling& sampling, Expr size, DType dtype)
      : onnx_(onnx), sampling_(sampling), size_(size), dtype_(dtype) {}

  // What a grid's coordinates in [-1, 1] read.
  Taps taps(Value grid) const {
    const Value c = placed(grid);
    switch (sampling_.mode) {
      case Mode::kLinear:
        return linear_taps(onnx_, held_inside(c));
      case Mode::kNearest: {
        const Value at = onnx_.unsqueeze(onnx_.round(held_inside(c)), {-1});
        return {at, onnx_.one(dtype_)};
      }
      case Mode::kCubic:
        return cubic_taps(c);
    }
    return {};
  }

 private:
  Value number(double value) const { return onnx_.scalar(value, dtype_); }

  // From [-1, 1] to the centres (align_corners) or edges of the first and last element.
  Value placed(Value grid) const {
    const Value moved = onnx_.add(grid, number(1));
    if (sampling_.align_corners) {
      return onnx_.mul(onnx_.mul(moved, number(0.5)), onnx_.real_size(size_ - 1, dtype_));
    }
    const Value wide = onnx_.sub(onnx_.mul(moved, onnx_.real_size(size_, dtype_)), number(1));
    return onnx_.mul(wide, number(0.5));
  }

  Value clipped(Value c) const {
    return onnx_.clip(c, number(0), onnx_.real_size(size_ - 1, dtype_));
  }

  // To and fro between the first and last element's centres or edges.
  Value reflected(Value c) const {
    const Value first = number(sampling_.align_corners ? 0 : -0.5);
    const Expr length = sampling_.align_corners ? size_ - 1 : size_;
    if (length.is(0)) return onnx_.mul(c, number(0));
    const Value span = onnx_.real_size(length, dtype_);
    const Value distance = onnx_.abs(onnx_.sub(c, first));
    const Value flips = onnx_.floor(onnx_.div(distance, span));
    const Value extra = onnx_.sub(distance, onnx_.mul(flips, span));
    const Value half = onnx_.mul(flips, number(0.5));
    const Value even = onnx_.equal(half, onnx_.floor(half));
    const Value back = onnx_.where(even, extra, onnx_.sub(span, extra));
    const Value inside = onnx_.add(back, first);
    if (symbolic::certainly_positive(length)) return inside;
    return onnx_.where(onnx_.equal(span, number(0)), number(0), inside);
  }

  Value held_inside(Value c) const {
    switch (sampling_.padding) {
      case Padding::kBorder:
        return clipped(c);
      case Padding::kReflection:
        return clipped(reflected(c));
      case Padding::kZeros:
        break;
    }
    return c;
  }

  // The four neighbours; each is held inside by itself.
  Taps cubic_taps(Value coordinate) const {
    const Value c = onnx_.unsqueeze(coordinate, {-1}), low = onnx_.floor(c);
    const Value at = onnx_.add(low, onnx_.cast(onnx_.ints({-1, 0, 1, 2}), dtype_));
    const Value t = onnx_.sub(c, low), rest = onnx_.sub(number(1), t);
    const Value weight = onnx_.concat({far_weight(onnx_.add(t, number(1))), near_weight(t),
                                       near_weight(rest), far_weight(onnx_.add(rest, number(1)))},
                                      -1);
    return {held_inside(at), weight};
  }
  // The cubic kernel with a = -0.75 on [0, 1] and [1, 2].
  Value near_weight(Value d) const {
    const Value inner = onnx_.sub(onnx_.mul(d, number(1.25)), number(2.25));
    return onnx_.add(onnx_.mul(onnx_.mul(inner, d), d), number(1));
  }
  Value far_weight(Value d) const {
    const Value inner = onnx_.add(onnx_.mul(d, number(-0.75)), number(3.75));
    const Value more = onnx_.sub(onnx_.mul(inner, d), number(6));
    return onnx_.add(onnx_.mul(more, d), number(3));
  }

  Emit& onnx_;
  const Sampling& sampling_;
  Expr size_;
  DType dtype_;
};

// Without GridSample: by gathering the neighbours. The last axis of the grid counts from the
// image's last axis.
[[maybe_unused]] Value spelled_out(Emit& onnx, Value image, Value grid, const Sampling& sampling) {
  const std::int64_t axes = image.rank() - 2;
  const Lattice lattice = lattice_of(onnx, image);
  std::vector<Taps> taps;
  for (std::int64_t axis = 0; axis < axes; ++axis) {
    const GridAxis one(onnx, sampling, image.dim(2 + axis), grid.dtype());
    taps.push_back(one.taps(onnx.select(grid, -1, axes - 1 - axis)));
  }
  std::vector<std::int64_t> behind(static_cast<std::size_t>(axes));
  std::iota(behind.begin(), behind.end(), std::int64_t{1});
  const Value batch = onnx.unsqueeze(onnx.range(image.dim(0)), behind);
  const Value read = interpolated(onnx, lattice, batch, taps);  // [N, places..., C]
  std::vector<std::int64_t> channels_first = {0, axes + 1};
  for (std::int64_t axis = 1; axis <= axes; ++axis) channels_first.push_back(axis);
  return onnx.transpose(read, channels_first);
}

Outputs grid_sampler(const Call& call, Emit& onnx) {
  const DType dtype = computing_type(call.result_dtype());
  const Value image = onnx.cast(call.tensor("input"), dtype);
  const Value grid = onnx.cast(call.tensor("grid"), dtype);
  const Sampling sampling = sampling_of(call);
  constexpr std::string_view kModes[] = {"linear", "nearest", "cubic"};
  constexpr std::string_view kPaddings[] = {"zeros", "border", "reflection"};
  const Value read =
      onnx.grid_sample(image, grid,
                       {.align_corners = sampling.align_corners ? 1 : 0,
                        .mode = kModes[static_cast<std::size_t>(sampling.mode)],
                        .padding_mode = kPaddings[static_cast<std::size_t>(sampling.padding)]});
  return {cast_to_result(onnx, call, read)};
}

// The centres of `size` elements in [-1, 1]; with align_corners the first and last ones lie on its
// ends, and a single one in the middle.
Value centres(Emit& onnx, Expr size, bool align_corners, DType dtype) {
  const Value index = onnx.cast(onnx.range(size), dtype), one = onnx.one(dtype);
  const Value twice = onnx.add(index, index);
  if (!align_corners) {
    const Value count = onnx.real_size(size, dtype);
    return onnx.div(onnx.sub(onnx.add(twice, one), count), count);
  }
  const Expr steps = symbolic::max(size - 1, 1);
  const Value place = onnx.div(twice, onnx.real_size(steps, dtype));
  return onnx.sub(place, onnx.real_size(symbolic::min(size - 1, 1), dtype));
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
    Value along =
        centres(onnx, out[static_cast<std::size_t>(axes - i)], call.flag("align_corners"), dtype);
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
