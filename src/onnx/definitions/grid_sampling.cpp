// Images read at the points of a grid, by gathering the neighbors of each.
#include <algorithm>
#include <array>
#include <numeric>

#include "onnx/definitions/grids.h"
#include "onnx/definitions/images.h"
#include "onnx/definitions/lattice.h"

namespace sardonyx::onnx {
namespace {

enum class Mode : std::uint8_t { kLinear, kNearest, kCubic };
enum class Padding : std::uint8_t { kZeros, kBorder, kReflection };

struct Sampling {
  Mode mode;
  Padding padding;
  bool align_corners;
};

// Nothing for modes of another name.
std::optional<Sampling> sampling_of(const Composite& call) {
  constexpr std::array<std::string_view, 3> kModes = {"linear", "nearest", "cubic"};
  constexpr std::array<std::string_view, 3> kPaddings = {"zeros", "border", "reflection"};
  const auto mode = std::ranges::find(kModes, call.text("mode", "linear"));
  const auto padding = std::ranges::find(kPaddings, call.text("padding_mode", "zeros"));
  if (mode == kModes.end() || padding == kPaddings.end()) return std::nullopt;
  return Sampling{static_cast<Mode>(mode - kModes.begin()),
                  static_cast<Padding>(padding - kPaddings.begin()),
                  call.integer("align_corners", 0) != 0};
}

// One axis of the image, with the arithmetic of GridSample.
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

  // From [-1, 1] to the centers (align_corners) or edges of the first and last element.
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

  // To and fro between the first and last element's centers or edges.
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

  // The four neighbors; each is held inside by itself.
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

}  // namespace

// The last axis of the grid counts from the image's last axis. Opset 16; of volumes, opset 20.
std::optional<Values> spelled_out_grid_sample(const Composite& call) {
  Emit& onnx = call.onnx;
  const Value image = call.input(0);
  const auto sampling = sampling_of(call);
  if (!sampling || !image.has_rank() || image.rank() < 3 || !call.input(1).has_rank())
    return std::nullopt;
  const Value grid = onnx.cast(call.input(1), image.dtype());
  const std::int64_t axes = image.rank() - 2;
  const Lattice lattice = lattice_of(onnx, image);
  std::vector<Taps> taps;
  for (std::int64_t axis = 0; axis < axes; ++axis) {
    const GridAxis one(onnx, *sampling, image.dim(2 + axis), grid.dtype());
    taps.push_back(one.taps(onnx.select(grid, -1, axes - 1 - axis)));
  }
  std::vector<std::int64_t> behind(static_cast<std::size_t>(axes));
  std::iota(behind.begin(), behind.end(), std::int64_t{1});
  const Value batch = onnx.unsqueeze(onnx.range(image.dim(0)), behind);
  const Value read = interpolated(onnx, lattice, batch, taps);  // [N, places..., C]
  std::vector<std::int64_t> channels_first = {0, axes + 1};
  for (std::int64_t axis = 1; axis <= axes; ++axis) channels_first.push_back(axis);
  return Values{onnx.transpose(read, channels_first)};
}

Value element_centers(Emit& onnx, Value count, bool align_corners, DType dtype) {
  const Value none = onnx.int_scalar(0), one = onnx.int_scalar(1);
  const Value index = onnx.Operators::range(none, count, one), twice = onnx.add(index, index);
  const auto real = [&](Value number) { return onnx.cast(number, dtype); };
  if (!align_corners) {
    const Value odd = onnx.add(twice, one);
    return onnx.div(real(onnx.sub(odd, count)), real(count));
  }
  const Value steps = onnx.sub(count, one), divisor = onnx.max({steps, one});
  return onnx.div(real(onnx.sub(twice, steps)), real(divisor));
}

// Opset 20: theta [N, axes, axes + 1] -> [N, sizes..., axes], coordinates listed from the last
// axis. `size` is that of the image, [N, C, sizes...].
std::optional<Values> spelled_out_affine_grid(const Composite& call) {
  Emit& onnx = call.onnx;
  const Value theta = call.input(0), size = call.input(1);
  const auto is_plane_or_space = [](Expr axes) { return axes.is(2) || axes.is(3); };
  if (!size || !theta.has_rank() || theta.rank() != 3 || !is_plane_or_space(theta.dim(1)))
    return std::nullopt;
  const std::int64_t axes = theta.dim(1).value();
  // Over all places: [N, 1..., axes, axes + 1].
  std::vector<std::int64_t> places(static_cast<std::size_t>(axes));
  std::iota(places.begin(), places.end(), 1);
  const Value map = onnx.unsqueeze(theta, places);
  Value sum = onnx.select(map, -1, axes);
  for (std::int64_t i = 0; i < axes; ++i) {
    // Column i belongs to axis axes - 1 - i of the places.
    const Value count = onnx.gather(size, onnx.int_scalar(axes + 1 - i));
    const Value along =
        element_centers(onnx, count, call.integer("align_corners", 0) != 0, theta.dtype());
    std::vector<std::int64_t> behind(static_cast<std::size_t>(i) + 1);
    std::iota(behind.begin(), behind.end(), 1);
    sum = onnx.add(sum, onnx.mul(onnx.select(map, -1, i), onnx.unsqueeze(along, behind)));
  }
  return Values{sum};
}

}  // namespace sardonyx::onnx
