#include "aten/resampling_by_index.h"

#include <numbers>

#include "aten/lattice.h"
#include "aten/operands.h"

namespace sardonyx::aten {
namespace {

// Numbers and sizes of the type in which positions are computed.
struct Positions {
  Emit& onnx;
  DType dtype;

  Value number(double value) const { return onnx.scalar(value, dtype); }
  Value add(Value a, double b) const { return onnx.add(a, number(b)); }
  Value size(Expr e) const { return onnx.real_size(e, dtype); }
  Value places(Expr n) const { return onnx.cast(counting(onnx, n), dtype); }

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

Value weighted_sum(Emit& onnx, Value x, const ResampledAxis& axis, const std::vector<Tap>& taps) {
  Value sum;
  for (const Tap& tap : taps) {
    const Value read = onnx.gather(x, index_of(onnx, tap.place, axis.from), {.axis = axis.axis});
    const Value term = onnx.mul(read, along(onnx, tap.weight, x, axis.axis));
    sum = sum ? onnx.add(sum, term) : term;
  }
  return sum;
}

// PyTorch's cubic convolution with a = -0.75, at distances within [0, 1] and [1, 2].
Value cubic_near(const Positions& p, Value d) {
  const Value inner = p.add(p.onnx.mul(d, p.number(1.25)), -2.25);
  return p.add(p.onnx.mul(p.onnx.mul(inner, d), d), 1);
}
Value cubic_far(const Positions& p, Value d) {
  const Value inner = p.add(p.onnx.mul(d, p.number(-0.75)), 3.75);
  return p.add(p.onnx.mul(p.add(p.onnx.mul(inner, d), -6), d), 3);
}

Value resampled_axis(Emit& onnx, Value x, const ResampledAxis& axis, Neighbours neighbours,
                     bool align_corners) {
  const Positions p{onnx, x.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32};
  const Value step = p.step(axis, align_corners), place = p.places(axis.to);
  const Value centre = p.add(onnx.mul(p.add(place, 0.5), step), -0.5);
  const Value real = align_corners ? onnx.mul(place, step) : centre;
  switch (neighbours) {
    case Neighbours::kFloor:
      return onnx.gather(x, index_of(onnx, onnx.floor(onnx.mul(place, step)), axis.from),
                         {.axis = axis.axis});
    case Neighbours::kNearest: {
      const Value exact = onnx.floor(onnx.mul(p.add(place, 0.5), step));
      return onnx.gather(x, index_of(onnx, exact, axis.from), {.axis = axis.axis});
    }
    case Neighbours::kLinear: {
      const Value source = align_corners ? real : onnx.max({real, p.number(0)});
      const Value low = onnx.floor(source), high = onnx.sub(source, low);
      return weighted_sum(onnx, x, axis,
                          {{low, onnx.sub(p.number(1), high)}, {p.add(low, 1), high}});
    }
    case Neighbours::kCubic: {
      const Value low = onnx.floor(real), t = onnx.sub(real, low);
      const Value rest = onnx.sub(p.number(1), t);
      return weighted_sum(onnx, x, axis,
                          {{p.add(low, -1), cubic_far(p, p.add(t, 1))},
                           {low, cubic_near(p, t)},
                           {p.add(low, 1), cubic_near(p, rest)},
                           {p.add(low, 2), cubic_far(p, p.add(rest, 1))}});
    }
  }
  return x;
}

// The filter as a matrix [to, from] whose rows sum to 1.
Value filter_matrix(Emit& onnx, const ResampledAxis& axis, const Filter& filter, bool align_corners,
                    DType dtype) {
  const Positions p{onnx, dtype};
  const Value step = p.step(axis, align_corners);
  const Value width = onnx.max({step, p.number(1)});
  const Value reach = onnx.mul(width, p.number(filter.support));
  const Value centre = onnx.unsqueeze(onnx.mul(p.add(p.places(axis.to), 0.5), step), {1});
  // Truncated towards zero, as an int conversion does; below zero starts at zero anyway.
  const Value first = onnx.max({onnx.floor(p.add(onnx.sub(centre, reach), 0.5)), p.number(0)});
  const Value end = onnx.floor(p.add(onnx.add(centre, reach), 0.5));
  const Value element = p.places(axis.from);
  const Value inside = onnx.and_(onnx.greater_or_equal(element, first), onnx.less(element, end));
  const Value distance = onnx.div(p.add(onnx.sub(element, centre), 0.5), width);
  const Value weights = onnx.where(inside, filter.weight(onnx, onnx.abs(distance)), p.number(0));
  const std::vector<std::int64_t> row = {1};
  return onnx.div(weights, onnx.reduce("ReduceSum", weights, row, true));
}

// Averages of integers are computed in float32 and rounded.
DType mixing_type(DType dtype) {
  return base::is_integer(dtype) ? DType::kFloat32 : computing_type(dtype);
}

Value back_in(Emit& onnx, Value x, DType dtype) {
  if (!base::is_integer(dtype)) return onnx.cast(x, dtype);
  const auto bound = [&](std::int64_t value) {
    return onnx.scalar(static_cast<double>(value), x.dtype());
  };
  const Value whole =
      onnx.clip(onnx.round(x), bound(base::integer_min(dtype)), bound(base::integer_max(dtype)));
  return onnx.cast(whole, dtype);
}

}  // namespace

Value resampled(Emit& onnx, Value x, const std::vector<ResampledAxis>& axes, Neighbours neighbours,
                bool align_corners) {
  const DType dtype = x.dtype();
  const bool mixes = neighbours == Neighbours::kLinear || neighbours == Neighbours::kCubic;
  if (mixes) x = onnx.cast(x, mixing_type(dtype));
  for (const ResampledAxis& axis : axes) {
    x = resampled_axis(onnx, x, axis, neighbours, align_corners);
  }
  return mixes ? back_in(onnx, x, dtype) : x;
}

Value filtered(Emit& onnx, Value x, const std::vector<ResampledAxis>& axes, const Filter& filter,
               bool align_corners) {
  const DType dtype = x.dtype();
  Value y = onnx.cast(x, mixing_type(dtype));
  const auto matrix = [&](const ResampledAxis& axis) {
    return filter_matrix(onnx, axis, filter, align_corners, y.dtype());
  };
  y = onnx.matmul(y, onnx.swap_axes(matrix(axes.at(1)), 0, 1));
  y = onnx.matmul(matrix(axes.at(0)), y);
  return back_in(onnx, y, dtype);
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

}  // namespace sardonyx::aten
