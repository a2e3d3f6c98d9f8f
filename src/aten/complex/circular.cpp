// Circular and hyperbolic functions of complex numbers.
#include <limits>
#include <numbers>

#include "aten/complex/math.h"
#include "aten/elementwise/operands.h"

namespace sardonyx::aten {
namespace {

Value is_endless(Emit& onnx, const Parts& x) {
  return onnx.or_(onnx.is_inf(x.real), onnx.is_inf(x.imaginary));
}

Value signed_infinity(Emit& onnx, Value like) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return onnx.where(has_sign(onnx, like), onnx.scalar_like(-kInfinity, like),
                    onnx.scalar_like(kInfinity, like));
}

}  // namespace

Value ComplexMath::instead_of_nan(Value value, Value condition, Value otherwise) const {
  return onnx_.where(onnx_.and_(onnx_.is_nan(value), condition), otherwise, value);
}

// Zero times infinity is zero here; infinity has no other sign where its angle is none.
Parts ComplexMath::sinh(const Parts& x) const {
  const Value zero = number(x, 0), size = onnx_.cosh(x.real);
  const Value real = onnx_.mul(onnx_.sinh(x.real), onnx_.cos(x.imaginary));
  const Value imaginary = onnx_.mul(size, onnx_.sin(x.imaginary));
  return {instead_of_nan(instead_of_nan(real, onnx_.equal(x.real, zero), x.real),
                         onnx_.is_inf(x.real), size),
          instead_of_nan(imaginary, onnx_.equal(x.imaginary, zero), x.imaginary)};
}

Parts ComplexMath::cosh(const Parts& x) const {
  const Value zero = number(x, 0), size = onnx_.cosh(x.real);
  const Value real = onnx_.mul(size, onnx_.cos(x.imaginary));
  const Value imaginary = onnx_.mul(onnx_.sinh(x.real), onnx_.sin(x.imaginary));
  const Value is_flat = onnx_.or_(onnx_.equal(x.real, zero), onnx_.equal(x.imaginary, zero));
  return {instead_of_nan(real, onnx_.is_inf(x.real), size),
          instead_of_nan(imaginary, is_flat, zero)};
}

// (sinh a cosh a + i sin b cos b) / (sinh^2 a + cos^2 b); far out it is 1 whatever a and b are.
Parts ComplexMath::tanh(const Parts& x) const {
  const Value bound = number(x, 20), zero = number(x, 0), sign = onnx_.sign(x.real);
  const Value far = onnx_.greater(onnx_.abs(x.real), bound);
  const Value bounded = onnx_.where(far, onnx_.mul(sign, bound), x.real);
  const Value sinh = onnx_.sinh(bounded), cosh = onnx_.cosh(bounded);
  const Value sin = onnx_.sin(x.imaginary), cos = onnx_.cos(x.imaginary);
  const Value divisor = onnx_.add(onnx_.mul(sinh, sinh), onnx_.mul(cos, cos));
  const Value real = onnx_.div(onnx_.mul(sinh, cosh), divisor);
  const Value imaginary = onnx_.div(onnx_.mul(sin, cos), divisor);
  const Value infinite = onnx_.is_inf(x.real);
  return {instead_of_nan(real, onnx_.or_(infinite, onnx_.equal(x.real, zero)), sign),
          instead_of_nan(imaginary, onnx_.or_(infinite, onnx_.equal(x.imaginary, zero)), zero)};
}

// f(z) = -i g(i z) = i g(-i z) where f is the circular and g the hyperbolic function.
Parts ComplexMath::sin(const Parts& x) const { return times_i(sinh(neg(times_i(x)))); }
Parts ComplexMath::cos(const Parts& x) const { return cosh(times_i(x)); }
Parts ComplexMath::tan(const Parts& x) const { return neg(times_i(tanh(times_i(x)))); }

// Kahan's formulas, which keep to the branch cuts: W. Kahan, "Branch cuts for complex elementary
// functions", 1987. Infinities have an angle, and an infinite other part; where only one part
// is NaN, the part that follows from 0 stays.
Parts ComplexMath::asin(const Parts& x) const {
  const Parts low = sqrt(shift(neg(x), 1)), high = sqrt(shift(x, 1));
  const Value endless = is_endless(onnx_, x), y = x.imaginary;
  const Value run = onnx_.where(endless, onnx_.abs(y), mul(low, high).real);
  const Value rise = onnx_.asinh(mul(conj(low), high).imaginary);
  const Value angle = angle_of(onnx_, x.real, run);
  return {instead_of_nan(angle, onnx_.equal(x.real, number(x, 0)), x.real),
          onnx_.where(endless, signed_infinity(onnx_, y), rise)};
}

Parts ComplexMath::acos(const Parts& x) const {
  const Parts low = sqrt(shift(neg(x), 1)), high = sqrt(shift(x, 1));
  const Value endless = is_endless(onnx_, x), y = x.imaginary;
  const Value angle = angle_of(onnx_, onnx_.where(endless, onnx_.abs(y), low.real),
                               onnx_.where(endless, x.real, high.real));
  const Value rise = onnx_.asinh(mul(conj(high), low).imaginary);
  const Value whole = onnx_.mul(angle, onnx_.where(endless, number(x, 1), number(x, 2)));
  return {instead_of_nan(whole, onnx_.equal(x.real, number(x, 0)), number(x, std::numbers::pi / 2)),
          onnx_.where(endless, onnx_.neg(signed_infinity(onnx_, y)), rise)};
}

Parts ComplexMath::acosh(const Parts& x) const {
  const Parts low = sqrt(shift(x, -1)), high = sqrt(shift(x, 1));
  const Value endless = is_endless(onnx_, x), y = x.imaginary, upright = onnx_.is_inf(y);
  const Value angle = angle_of(onnx_, onnx_.where(upright, y, low.imaginary),
                               onnx_.where(upright, x.real, high.real));
  const Value size = onnx_.asinh(mul(conj(low), high).real);
  const Value whole = onnx_.mul(angle, onnx_.where(upright, number(x, 1), number(x, 2)));
  return {
      onnx_.where(endless, number(x, std::numeric_limits<double>::infinity()), size),
      instead_of_nan(whole, onnx_.equal(x.real, number(x, 0)), number(x, std::numbers::pi / 2))};
}

Parts ComplexMath::asinh(const Parts& x) const { return neg(times_i(asin(times_i(x)))); }

// At infinity it is half a turn up or down, whatever the way there.
Parts ComplexMath::atanh(const Parts& x) const {
  const Value square = onnx_.mul(x.imaginary, x.imaginary), one = number(x, 1);
  const Value below = onnx_.sub(one, x.real), above = onnx_.add(one, x.real);
  const Value distance = onnx_.add(onnx_.mul(below, below), square);
  const Value ratio = onnx_.div(onnx_.mul(x.real, number(x, 4)), distance);
  const Value size = onnx_.mul(aten::log_one_plus(onnx_, ratio), number(x, 0.25));
  const Value endless = is_endless(onnx_, x), infinite = onnx_.is_inf(x.imaginary);
  const Value twice = onnx_.mul(x.imaginary, number(x, 2));
  const Value rise = onnx_.where(infinite, onnx_.sign(x.imaginary), twice);
  const Value run = onnx_.where(endless, number(x, -std::numeric_limits<double>::infinity()),
                                onnx_.sub(onnx_.mul(below, above), square));
  const Value real = instead_of_nan(size, onnx_.equal(x.real, number(x, 0)), x.real);
  return {onnx_.where(endless, number(x, 0), real),
          onnx_.mul(angle_of(onnx_, rise, run), number(x, 0.5))};
}

Parts ComplexMath::atan(const Parts& x) const { return neg(times_i(atanh(times_i(x)))); }

}  // namespace sardonyx::aten
