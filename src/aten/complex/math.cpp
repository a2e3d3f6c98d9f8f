#include "aten/complex/math.h"

#include <limits>
#include <numbers>

#include "aten/elementwise/operands.h"

namespace sardonyx::aten {

// --- arithmetic

Parts ComplexMath::complete(const Parts& x) const {
  if (x.imaginary) return x;
  return {x.real, onnx_.full(x.real.shape(), onnx_.zero(x.real.dtype()))};
}

Parts ComplexMath::add(const Parts& a, const Parts& b) const {
  const Value real = onnx_.add(a.real, b.real);
  if (a.imaginary && b.imaginary) return {real, onnx_.add(a.imaginary, b.imaginary)};
  if (!a.imaginary && !b.imaginary) return {real, {}};
  return {real, onnx_.expand(a.imaginary ? a.imaginary : b.imaginary, real.shape())};
}

Parts ComplexMath::sub(const Parts& a, const Parts& b) const { return add(a, neg(b)); }

Parts ComplexMath::neg(const Parts& x) const {
  return each_part(x, [&](Value part) { return onnx_.neg(part); });
}

Parts ComplexMath::conj(const Parts& x) const {
  return {x.real, x.imaginary ? onnx_.neg(x.imaginary) : Value{}};
}

Parts ComplexMath::times_i(const Parts& x) const { return {onnx_.neg(x.imaginary), x.real}; }

Parts ComplexMath::mul(const Parts& a, const Parts& b) const {
  if (!a.imaginary) return each_part(b, [&](Value part) { return onnx_.mul(a.real, part); });
  if (!b.imaginary) return each_part(a, [&](Value part) { return onnx_.mul(part, b.real); });
  return {onnx_.sub(onnx_.mul(a.real, b.real), onnx_.mul(a.imaginary, b.imaginary)),
          onnx_.add(onnx_.mul(a.real, b.imaginary), onnx_.mul(a.imaginary, b.real))};
}

Parts ComplexMath::matmul(const Parts& a, const Parts& b) const {
  if (!a.imaginary) return each_part(b, [&](Value part) { return onnx_.matmul(a.real, part); });
  if (!b.imaginary) return each_part(a, [&](Value part) { return onnx_.matmul(part, b.real); });
  return {onnx_.sub(onnx_.matmul(a.real, b.real), onnx_.matmul(a.imaginary, b.imaginary)),
          onnx_.add(onnx_.matmul(a.real, b.imaginary), onnx_.matmul(a.imaginary, b.real))};
}

// Both sides over the divisor's larger part, so that its square neither overflows nor vanishes.
// Zero divides each part, as PyTorch does.
Parts ComplexMath::div(const Parts& a, const Parts& b) const {
  if (!b.imaginary) return each_part(a, [&](Value part) { return onnx_.div(part, b.real); });
  const Value size = onnx_.max({onnx_.abs(b.real), onnx_.abs(b.imaginary)});
  const Value is_zero = onnx_.equal(size, number(b, 0));
  const auto over_size = [&](Value part) { return onnx_.div(part, size); };
  const Parts divisor = each_part(b, over_size), dividend = each_part(complete(a), over_size);
  const Value square = squared_abs(divisor);
  const Parts quotient =
      each_part(mul(dividend, conj(divisor)), [&](Value part) { return onnx_.div(part, square); });
  return where(is_zero, dividend, quotient);
}

Parts ComplexMath::square(const Parts& x) const { return mul(x, x); }

// That of a number with one infinite part is 0; division by its size would make NaN of it.
Parts ComplexMath::reciprocal(const Parts& x) const {
  const Parts quotient = div({number(x, 1), {}}, x);
  if (!x.imaginary) return quotient;
  const Value width = onnx_.abs(x.real), height = onnx_.abs(x.imaginary);
  const Value infinity = number(x, std::numeric_limits<double>::infinity());
  const Value one_infinite = onnx_.and_(onnx_.equal(onnx_.max({width, height}), infinity),
                                        onnx_.less(onnx_.min({width, height}), infinity));
  return where(one_infinite, {number(x, 0), {}}, quotient);
}

Parts ComplexMath::scale(const Parts& x, double factor) const {
  return each_part(x, [&](Value part) { return onnx_.mul(part, number(x, factor)); });
}

Parts ComplexMath::shift(const Parts& x, double summand) const {
  return {onnx_.add(x.real, number(x, summand)), x.imaginary};
}

Parts ComplexMath::where(Value condition, const Parts& a, const Parts& b) const {
  const Value real = onnx_.where(condition, a.real, b.real);
  if (!a.imaginary && !b.imaginary) return {real, {}};
  const Value zero = number(a, 0);
  return {real, onnx_.where(condition, a.imaginary ? a.imaginary : zero,
                            b.imaginary ? b.imaginary : zero)};
}

// --- real results

Value ComplexMath::squared_abs(const Parts& x) const {
  const Value square = onnx_.mul(x.real, x.real);
  return x.imaginary ? onnx_.add(square, onnx_.mul(x.imaginary, x.imaginary)) : square;
}

Value ComplexMath::abs(const Parts& x) const {
  return x.imaginary ? hypotenuse(onnx_, x.real, x.imaginary) : onnx_.abs(x.real);
}

Value ComplexMath::angle(const Parts& x) const { return angle_of(onnx_, x.imaginary, x.real); }

Value ComplexMath::equal(const Parts& a, const Parts& b) const {
  const Value real = onnx_.equal(a.real, b.real);
  if (!a.imaginary && !b.imaginary) return real;
  const Value zero = number(a, 0);
  return onnx_.and_(
      real, onnx_.equal(a.imaginary ? a.imaginary : zero, b.imaginary ? b.imaginary : zero));
}

Value ComplexMath::is_zero(const Parts& x) const { return equal(x, {number(x, 0), {}}); }

// --- exponentials and powers

Parts ComplexMath::sgn(const Parts& x) const {
  if (!x.imaginary) return {onnx_.sign(x.real), {}};
  const Value size = abs(x), zero = number(x, 0), is_zero = onnx_.equal(size, zero);
  return each_part(x,
                   [&](Value part) { return onnx_.where(is_zero, zero, onnx_.div(part, size)); });
}

// A vanishing size wins over any angle, an infinite one over an angle that is none, and a real
// number stays one where its size is infinite.
Parts ComplexMath::exp(const Parts& x) const {
  const Value size = onnx_.exp(x.real), zero = number(x, 0);
  if (!x.imaginary) return {size, {}};
  const Value vanished = onnx_.equal(size, zero);
  const Value real = onnx_.mul(size, onnx_.cos(x.imaginary));
  const Value imaginary = onnx_.mul(size, onnx_.sin(x.imaginary));
  const Value is_real = onnx_.equal(x.imaginary, zero);
  return {onnx_.where(vanished, zero, instead_of_nan(real, onnx_.is_inf(x.real), size)),
          onnx_.where(is_real, x.imaginary, onnx_.where(vanished, zero, imaginary))};
}

Parts ComplexMath::log(const Parts& x) const { return {onnx_.log(abs(x)), angle(x)}; }

// |1 + z|^2 is 1 + (x (2 + x) + y^2), whose distance from 1 keeps small z.
Parts ComplexMath::log_one_plus(const Parts& x) const {
  const Parts sum = shift(x, 1);
  const Value excess = onnx_.add(onnx_.mul(x.real, onnx_.add(x.real, number(x, 2))),
                                 onnx_.mul(x.imaginary, x.imaginary));
  const Value near = onnx_.mul(aten::log_one_plus(onnx_, excess), number(x, 0.5));
  const Value small = onnx_.less(onnx_.abs(excess), number(x, 0.5));
  const Value far = onnx_.where(onnx_.is_nan(excess), excess, onnx_.log(abs(sum)));
  return {onnx_.where(small, near, far), angle(sum)};
}

// About the larger real part.
Parts ComplexMath::log_add_exp(const Parts& a, const Parts& b) const {
  const Value first = onnx_.greater_or_equal(a.real, b.real);
  const Parts large = where(first, a, b), small = where(first, b, a);
  const Parts sum = add(large, log_one_plus(exp(sub(small, large))));
  const Value nothing = onnx_.and_(onnx_.equal(a.real, b.real), onnx_.is_inf(a.real));
  return where(nothing, large, sum);
}

// Of the two parts the one without cancellation, and the other from the product y = 2 re im. What
// has an infinite part has an infinite size, also beside NaN.
Parts ComplexMath::sqrt(const Parts& x) const {
  const Value half = number(x, 0.5), zero = number(x, 0);
  const Value size = abs(x), infinite = onnx_.is_inf(size), height = onnx_.abs(x.imaginary);
  const Value mean =
      onnx_.add(onnx_.mul(size, half), onnx_.mul(onnx_.abs(x.real), half));  // may not overflow
  const Value large = onnx_.where(infinite, size, onnx_.sqrt(mean));
  const Value quotient = onnx_.div(onnx_.mul(height, half), large);
  const Value flat = onnx_.where(onnx_.is_inf(x.imaginary), size, onnx_.mul(height, zero));
  const Value small = onnx_.where(onnx_.or_(onnx_.equal(large, zero), infinite), flat, quotient);
  const Value left = onnx_.less(x.real, zero);
  const Value imaginary = onnx_.where(left, large, small);
  return {onnx_.where(left, small, large), with_sign_of(onnx_, imaginary, x.imaginary)};
}

Parts ComplexMath::pow(const Parts& base, const Parts& exponent) const {
  return exp(mul(exponent, log(complete(base))));
}

}  // namespace sardonyx::aten
