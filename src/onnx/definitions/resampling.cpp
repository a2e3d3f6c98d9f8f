#include "onnx/definitions/resampling.h"

#include <numbers>

namespace sardonyx::onnx {
namespace {

// Half types are mixed in float32.
DType computing_type(DType dtype) {
  return base::is_floating(dtype) && base::bit_width(dtype) < 32 ? DType::kFloat32 : dtype;
}

// Numbers and sizes of the type in which positions are computed.
struct Positions {
  Emit& onnx;
  DType dtype;

  Value number(double value) const { return onnx.scalar(value, dtype); }
  Value add(Value a, double b) const { return onnx.add(a, number(b)); }
  Value size(Expr e) const { return onnx.real_size(e, dtype); }
  Value places(Expr n) const { return onnx.cast(onnx.range(n), dtype); }

  // How far in the input one step in the result goes, a 0-d value.
  Value step(const ResampledAxis& axis, bool align_corners) const {
    if (align_corners) {
      // One element has no step.
      const Expr most = symbolic::max(axis.to - 1, 1);
      const Value ratio = onnx.div(size(axis.from - 1), size(most));
      if (axis.to.is_constant()) return axis.to.is(1) ? number(0) : ratio;
      return onnx.mul(ratio, size(symbolic::min(axis.to - 1, 1)));
    }
    if (axis.factor) return number(1.0 / *axis.factor);
    return onnx.div(size(axis.from), size(axis.to));
  }
};

// The step where the factor does not count for an axis that comes out up to `whole` times as long.
Value step_or_whole(const Positions& p, const ResampledAxis& axis) {
  Value step = p.step(axis, false);
  if (!axis.factor) return step;
  for (std::int64_t times = axis.whole; times > 0; --times) {
    const Expr size = axis.from * times;
    const Value whole = p.number(1.0 / static_cast<double>(times));
    if (axis.to == size) return whole;
    if (size.is_constant() && axis.to.is_constant()) continue;
    step = p.onnx.where(p.onnx.equal(p.onnx.size(axis.to), p.onnx.size(size)), whole, step);
  }
  return step;
}

Value index_of(Emit& onnx, Value place, Expr size) {
  return onnx.clip(onnx.cast(place, DType::kInt64), onnx.int_scalar(0), onnx.size(size - 1));
}

// Weights [to], ready to multiply a tensor whose axis `axis` they belong to.
Value along(Emit& onnx, Value weights, Value x, std::int64_t axis) {
  std::vector<std::int64_t> behind;
  for (std::int64_t i = axis + 1; i < x.rank(); ++i) behind.push_back(i - axis);
  return onnx.unsqueeze(onnx.cast(weights, x.dtype()), behind);
}

struct Tap {
  Value place, weight;
};

// Cubic convolution with a = -0.75, at distances within [0, 1] and [1, 2].
Value cubic_near(const Positions& p, Value d) {
  const Value inner = p.add(p.onnx.mul(d, p.number(1.25)), -2.25);
  return p.add(p.onnx.mul(p.onnx.mul(inner, d), d), 1);
}
Value cubic_far(const Positions& p, Value d) {
  const Value inner = p.add(p.onnx.mul(d, p.number(-0.75)), 3.75);
  return p.add(p.onnx.mul(p.add(p.onnx.mul(inner, d), -6), d), 3);
}

// What each place of the result reads, and with which weight.
std::vector<Tap> taps_of(const Positions& p, const ResampledAxis& axis, Neighbors neighbors,
                         bool align_corners) {
  Emit& onnx = p.onnx;
  const bool linear = neighbors == Neighbors::kLinear && !align_corners;
  const Value step = linear ? step_or_whole(p, axis) : p.step(axis, align_corners);
  const Value place = p.places(axis.to);
  const Value center = p.add(onnx.mul(p.add(place, 0.5), step), -0.5);
  const Value real = align_corners ? onnx.mul(place, step) : center;
  switch (neighbors) {
    case Neighbors::kFloor:
      return {{onnx.floor(onnx.mul(place, step_or_whole(p, axis))), {}}};
    case Neighbors::kNearest:
      return {{onnx.floor(onnx.mul(p.add(place, 0.5), step)), {}}};
    case Neighbors::kLinear: {
      const Value source = align_corners ? real : onnx.max({real, p.number(0)});
      const Value low = onnx.floor(source), high = onnx.sub(source, low);
      return {{low, onnx.sub(p.number(1), high)}, {p.add(low, 1), high}};
    }
    case Neighbors::kCubic: {
      const Value low = onnx.floor(real), t = onnx.sub(real, low);
      const Value rest = onnx.sub(p.number(1), t);
      return {{p.add(low, -1), cubic_far(p, p.add(t, 1))},
              {low, cubic_near(p, t)},
              {p.add(low, 1), cubic_near(p, rest)},
              {p.add(low, 2), cubic_far(p, p.add(rest, 1))}};
    }
  }
  return {};
}

Value resampled_axis(Emit& onnx, Value x, const ResampledAxis& axis, Neighbors neighbors,
                     bool align_corners) {
  const Positions p{onnx, x.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32};
  Value sum;
  for (const Tap& tap : taps_of(p, axis, neighbors, align_corners)) {
    const Value read = onnx.gather(x, index_of(onnx, tap.place, axis.from), {.axis = axis.axis});
    if (!tap.weight) return read;
    const Value term = onnx.mul(read, along(onnx, tap.weight, x, axis.axis));
    sum = sum ? onnx.add(sum, term) : term;
  }
  return sum;
}

// The filter as a matrix [to, from] whose rows sum to 1.
Value filter_matrix(Emit& onnx, const ResampledAxis& axis, const Filter& filter, bool align_corners,
                    DType dtype) {
  const Positions p{onnx, dtype};
  const Value step = p.step(axis, align_corners);
  const Value width = onnx.max({step, p.number(1)});
  const Value reach = onnx.mul(width, p.number(filter.support));
  const Value center = onnx.unsqueeze(onnx.mul(p.add(p.places(axis.to), 0.5), step), {1});
  // Truncated towards zero, as an int conversion does; below zero starts at zero anyway.
  const Value first = onnx.max({onnx.floor(p.add(onnx.sub(center, reach), 0.5)), p.number(0)});
  const Value end = onnx.floor(p.add(onnx.add(center, reach), 0.5));
  const Value element = p.places(axis.from);
  const Value inside = onnx.and_(onnx.greater_or_equal(element, first), onnx.less(element, end));
  const Value distance = onnx.div(p.add(onnx.sub(element, center), 0.5), width);
  const Value weights = onnx.where(inside, filter.weight(onnx, onnx.abs(distance)), p.number(0));
  const std::vector<std::int64_t> row = {1};
  return onnx.div(weights, onnx.reduce("ReduceSum", weights, row, true));
}

// PyTorch resamples bytes along one axis after the other, with weights in 16 bits of as many binary
// places as the largest allows (22 at most), and rounds halves up to bytes in between. `weights` is
// [to, from], in float64; x [..., from].
Value byte_pass(Emit& onnx, Value x, Value weights) {
  const Positions p{onnx, DType::kFloat64};
  const std::vector<std::int64_t> both = {0, 1};
  const Value largest = onnx.reduce("ReduceMax", weights, both, false);
  const Value room = onnx.log(onnx.div(p.number(32767.5), largest));
  const Value places = p.add(onnx.ceil(onnx.mul(room, p.number(std::numbers::log2e))), -1);
  const Value unit = onnx.pow(p.number(2), onnx.min({places, p.number(22)}));
  const Value scaled = onnx.mul(weights, unit);
  const Value magnitude = onnx.floor(p.add(onnx.abs(scaled), 0.5));
  const Value whole = onnx.mul(onnx.sign(scaled), magnitude);
  const Value sum = onnx.matmul(x, onnx.swap_axes(whole, 0, 1));
  const Value rounded = onnx.floor(p.add(onnx.div(sum, unit), 0.5));
  return onnx.clip(rounded, p.number(0), p.number(255));
}

// Images of bytes, by the matrices of rows and columns.
Value resampled_bytes(Emit& onnx, Value x, Value rows, Value columns) {
  const Value across = byte_pass(onnx, onnx.cast(x, DType::kFloat64), columns);
  const Value down = byte_pass(onnx, onnx.swap_axes(across, -1, -2), rows);
  return onnx.cast(onnx.swap_axes(down, -1, -2), x.dtype());
}

}  // namespace

Value neighbor_matrix(Emit& onnx, const ResampledAxis& axis, Neighbors neighbors,
                      bool align_corners, DType dtype) {
  const Positions p{onnx, dtype};
  const Value element = onnx.range(axis.from);
  Value sum;
  for (const Tap& tap : taps_of(p, axis, neighbors, align_corners)) {
    const Value index = onnx.unsqueeze(index_of(onnx, tap.place, axis.from), {1});
    const Value here = onnx.cast(onnx.equal(index, element), dtype);
    if (!tap.weight) return here;
    const Value term = onnx.mul(here, onnx.unsqueeze(tap.weight, {1}));
    sum = sum ? onnx.add(sum, term) : term;
  }
  return sum;
}

Value resampled(Emit& onnx, Value x, const std::vector<ResampledAxis>& axes, Neighbors neighbors,
                bool align_corners) {
  const DType dtype = x.dtype();
  const bool mixes = neighbors == Neighbors::kLinear || neighbors == Neighbors::kCubic;
  if (mixes && base::is_integer(dtype) && axes.size() == 2) {
    const auto matrix = [&](const ResampledAxis& axis) {
      return neighbor_matrix(onnx, axis, neighbors, align_corners, DType::kFloat64);
    };
    return resampled_bytes(onnx, x, matrix(axes[0]), matrix(axes[1]));
  }
  if (mixes) x = onnx.cast(x, computing_type(dtype));
  for (const ResampledAxis& axis : axes) {
    x = resampled_axis(onnx, x, axis, neighbors, align_corners);
  }
  return onnx.cast(x, dtype);
}

Value filtered(Emit& onnx, Value x, const std::vector<ResampledAxis>& axes, const Filter& filter,
               bool align_corners) {
  const DType dtype = x.dtype();
  const auto matrix = [&](const ResampledAxis& axis, DType computed) {
    return filter_matrix(onnx, axis, filter, align_corners, computed);
  };
  if (base::is_integer(dtype)) {
    return resampled_bytes(onnx, x, matrix(axes.at(0), DType::kFloat64),
                           matrix(axes.at(1), DType::kFloat64));
  }
  Value y = onnx.cast(x, computing_type(dtype));
  y = onnx.matmul(y, onnx.swap_axes(matrix(axes.at(1), y.dtype()), 0, 1));
  y = onnx.matmul(matrix(axes.at(0), y.dtype()), y);
  return onnx.cast(y, dtype);
}

Filter linear_filter() {
  return {1.0, [](Emit& onnx, Value d) { return onnx.relu(onnx.sub(onnx.one(d.dtype()), d)); }};
}

// Cubic convolution with a = -0.5.
Filter cubic_filter() {
  return {2.0, [](Emit& onnx, Value d) {
            const Positions p{onnx, d.dtype()};
            const Value square = onnx.mul(d, d);
            const Value near = p.add(onnx.mul(p.add(onnx.mul(d, p.number(1.5)), -2.5), square), 1);
            const Value inner = p.add(onnx.mul(d, p.number(-0.5)), 2.5);
            const Value far = p.add(onnx.mul(p.add(onnx.mul(inner, d), -4), d), 2);
            const Value outside = onnx.greater_or_equal(d, p.number(2));
            return onnx.where(onnx.less(d, p.number(1)), near,
                              onnx.where(outside, p.number(0), far));
          }};
}

// sinc(x) sinc(x / 3) within 3.
Filter lanczos_filter() {
  return {3.0, [](Emit& onnx, Value d) {
            const Positions p{onnx, d.dtype()};
            const auto sinc = [&](Value x) {
              const Value angle = onnx.mul(x, p.number(std::numbers::pi));
              const Value zero = onnx.equal(x, p.number(0));
              const Value divisor = onnx.where(zero, p.number(1), angle);
              return onnx.where(zero, p.number(1), onnx.div(onnx.sin(angle), divisor));
            };
            const Value product = onnx.mul(sinc(d), sinc(onnx.div(d, p.number(3))));
            return onnx.where(onnx.less(d, p.number(3)), product, p.number(0));
          }};
}

}  // namespace sardonyx::onnx
