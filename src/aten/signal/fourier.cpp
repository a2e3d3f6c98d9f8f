#include "aten/signal/fourier.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "aten/complex/math.h"
#include "onnx/definitions/fourier.h"

namespace sardonyx::aten {
namespace {

// Matrices up to here are stored; larger ones are computed by the model.
constexpr std::int64_t kStoredElements = 1 << 17;
// Axes from here on are split into two factors where that saves most of the work.
constexpr std::int64_t kSplitLength = 256;

// exp(-+ 2 pi i r c / period) / scale for r < rows, c < columns. Weighted rows stand for themselves
// and for their mirror images as well, which have the conjugate entries.
struct Roots {
  Expr rows, columns, period;
  bool inverse = false;
  Scaling scaling = Scaling::kNone;
  bool weighted = false;
};

Value stored(Emit& onnx, const std::vector<double>& values, std::vector<std::int64_t> dims,
             DType dtype) {
  return onnx.cast(onnx.constant(onnx::Tensor::of_bytes(DType::kFloat64, std::move(dims),
                                                        std::as_bytes(std::span(values)))),
                   dtype);
}

double scale_of(Scaling scaling, double length) {
  switch (scaling) {
    case Scaling::kByRoot:
      return std::sqrt(length);
    case Scaling::kByLength:
      return length;
    default:
      return 1;
  }
}

Parts stored_roots(Emit& onnx, const Roots& roots, DType dtype) {
  const std::int64_t rows = roots.rows.value(), columns = roots.columns.value();
  const std::int64_t period = roots.period.value();
  const double scale = scale_of(roots.scaling, static_cast<double>(period));
  const double sign = roots.inverse ? 1 : -1;
  std::vector<double> cosines, sines;
  for (std::int64_t r = 0; r < rows; ++r) {
    const double weight = roots.weighted && r != 0 && 2 * r != period ? 2 : 1;
    for (std::int64_t c = 0; c < columns; ++c) {
      const double turn = static_cast<double>(r * c % period) / static_cast<double>(period);
      cosines.push_back(weight * std::cos(2 * std::numbers::pi * turn) / scale);
      sines.push_back(sign * weight * std::sin(2 * std::numbers::pi * turn) / scale);
    }
  }
  return {stored(onnx, cosines, {rows, columns}, dtype),
          stored(onnx, sines, {rows, columns}, dtype)};
}

// What each entry is multiplied with, as a column or a number.
Value weights(Emit& onnx, const Roots& roots, Value row, Value period) {
  const DType dtype = DType::kFloat64;
  const Value scale = roots.scaling == Scaling::kByRoot     ? onnx.reciprocal(onnx.sqrt(period))
                      : roots.scaling == Scaling::kByLength ? onnx.reciprocal(period)
                                                            : onnx.one(dtype);
  if (!roots.weighted) return scale;
  return onnx.mul(onnx::spectrum_weights(onnx, row, onnx.size(roots.period), dtype), scale);
}

Parts computed_roots(Emit& onnx, const Roots& roots, DType dtype) {
  const Value row = onnx.unsqueeze(onnx.range(roots.rows), {1});
  const Value column = onnx.unsqueeze(onnx.range(roots.columns), {0});
  const Value period = onnx.cast(onnx.size(roots.period), DType::kFloat64);
  const double turn = (roots.inverse ? 2 : -2) * std::numbers::pi;
  const Value angle =
      onnx::fourier_angles(onnx, row, column, onnx.size(roots.period), turn, DType::kFloat64);
  const Value weight = weights(onnx, roots, row, period);
  return {onnx.cast(onnx.mul(onnx.cos(angle), weight), dtype),
          onnx.cast(onnx.mul(onnx.sin(angle), weight), dtype)};
}

Parts matrix(Emit& onnx, const Roots& roots, DType dtype) {
  const Expr elements = roots.rows * roots.columns;
  const bool known =
      elements.is_constant() && roots.period.is_constant() && elements.value() <= kStoredElements;
  return known ? stored_roots(onnx, roots, dtype) : computed_roots(onnx, roots, dtype);
}

// The factor nearest below the square root; 1 where there is none worth a split.
std::int64_t factor_of(Expr length) {
  if (!length.is_constant() || length.value() < kSplitLength) return 1;
  const std::int64_t n = length.value();
  for (auto factor = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n))); factor > 3;
       --factor) {
    if (n % factor == 0) return factor;
  }
  return 1;
}

Parts cut(Emit& onnx, const Parts& x, Expr length) {
  const Expr size = x.real.dim(-1);
  if (size == length) return x;
  if (size.is_constant() && length.is_constant() && size.value() < length.value()) return x;
  return each_part(x, [&](Value part) { return onnx.slice(part, -1, 0, length); });
}

Parts padded(Emit& onnx, const Parts& x, Expr length) {
  const Expr missing = length - x.real.dim(-1);
  if (missing.is(0)) return x;
  const Value pads = onnx.sizes({Expr(0), symbolic::max(missing, 0)});
  return each_part(x, [&](Value part) { return onnx.pad(part, pads, {}, onnx.ints({-1})); });
}

Parts reshaped(Emit& onnx, const Parts& x, std::initializer_list<Expr> last) {
  Shape shape(x.real.shape().begin(), x.real.shape().end() - 1);
  shape.insert(shape.end(), last);
  return each_part(x, [&](Value part) { return onnx.reshape(part, shape); });
}

// n = first * second: transforms of both lengths, with a twist between them (Cooley and Tukey).
Parts split_transform(Emit& onnx, const Parts& x, std::int64_t first, const Transform& transform);

// Along the last axis, all bins or the first ones.
Parts transformed(Emit& onnx, const Parts& whole, Expr bins, const Transform& transform) {
  const Parts x = cut(onnx, whole, transform.length);
  if (const std::int64_t factor = factor_of(transform.length); factor > 1) {
    return cut(onnx, split_transform(onnx, padded(onnx, x, transform.length), factor, transform),
               bins);
  }
  const Roots roots{x.real.dim(-1), bins, transform.length, transform.inverse, transform.scaling};
  return ComplexMath(onnx).matmul(x, matrix(onnx, roots, x.real.dtype()));
}

Parts split_transform(Emit& onnx, const Parts& x, std::int64_t first, const Transform& transform) {
  const ComplexMath math(onnx);
  const DType dtype = x.real.dtype();
  const std::int64_t n = transform.length.value(), second = n / first;
  const bool inverse = transform.inverse;
  const Parts rows = reshaped(onnx, x, {first, second});
  const Parts columns =
      math.matmul(matrix(onnx, {first, first, first, inverse, transform.scaling}, dtype), rows);
  // The second transform scales by its own length, the first by its: n altogether.
  const Parts twisted = math.mul(columns, matrix(onnx, {first, second, n, inverse}, dtype));
  const Parts found = transformed(onnx, twisted, second, {second, inverse, transform.scaling});
  const Parts turned = each_part(found, [&](Value part) { return onnx.swap_axes(part, -1, -2); });
  Shape shape = x.real.shape();
  shape.back() = n;
  return each_part(turned, [&](Value part) { return onnx.reshape(part, shape); });
}

// The bins that a real signal's half spectrum leaves out: conjugates, in reverse.
Parts mirrored(Emit& onnx, const Parts& half, Expr length) {
  const Expr last = symbolic::floor_div(length - 1, 2);
  const Parts rest = each_part(half, [&](Value part) {
    const Value kept = onnx.slice(part, -1, 1, last + 1);
    return onnx.slice(kept, -1, -1, std::numeric_limits<std::int64_t>::min(), -1);
  });
  const Parts conjugate = ComplexMath(onnx).conj(rest);
  return {onnx.concat({half.real, conjugate.real}, -1),
          onnx.concat({half.imaginary, conjugate.imaginary}, -1)};
}

Value real_signal(Emit& onnx, const Parts& whole, const Transform& transform) {
  const ComplexMath math(onnx);
  const Expr bins = symbolic::floor_div(transform.length, 2) + 1;
  const Parts x = math.complete(cut(onnx, whole, bins));
  if (factor_of(transform.length) > 1) {
    const Parts spectrum = mirrored(onnx, padded(onnx, x, bins), transform.length);
    return transformed(onnx, spectrum, transform.length, transform).real;
  }
  const Roots roots{x.real.dim(-1),    transform.length,  transform.length,
                    transform.inverse, transform.scaling, true};
  const Parts found = matrix(onnx, roots, x.real.dtype());
  return onnx.sub(onnx.matmul(x.real, found.real), onnx.matmul(x.imaginary, found.imaginary));
}

Parts last_axis(Emit& onnx, const Parts& x, std::int64_t axis) {
  return each_part(x, [&](Value part) { return onnx.swap_axes(part, axis, -1); });
}

}  // namespace

Parts fourier(Emit& onnx, const Parts& x, std::int64_t axis, const Transform& transform) {
  const Parts found = transformed(onnx, last_axis(onnx, x, axis), transform.length, transform);
  return last_axis(onnx, found, axis);
}

Parts half_fourier(Emit& onnx, const Parts& x, std::int64_t axis, const Transform& transform) {
  const Expr bins = symbolic::floor_div(transform.length, 2) + 1;
  return last_axis(onnx, transformed(onnx, last_axis(onnx, x, axis), bins, transform), axis);
}

Value real_from_half(Emit& onnx, const Parts& x, std::int64_t axis, const Transform& transform) {
  return onnx.swap_axes(real_signal(onnx, last_axis(onnx, x, axis), transform), axis, -1);
}

}  // namespace sardonyx::aten
