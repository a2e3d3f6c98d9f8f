// Orthogonal polynomials of a degree that each element has of its own (Abramowitz & Stegun, 22.7).
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "aten/families.h"
#include "aten/special/real.h"

namespace sardonyx::aten {
namespace {

// The next polynomial from the last two: p(k+1) = next(k, p(k), p(k-1)).
using Recurrence = std::function<Real(const Real& k, const Real& last, const Real& before)>;

struct Degrees {
  Value n;  // int64, as PyTorch truncates it
  Shape shape;
};

Degrees degrees_of(const Call& call, Emit& onnx, const Real& x) {
  const Real n = real_argument(call, onnx, "n");
  return {onnx.cast(n.in(onnx), DType::kInt64), (x + n).value().shape()};
}

// p(n), from p(0) = 1 and p(1) on; 0 for negative degrees. Steps past an element's degree change
// nothing.
Real recurred(Emit& onnx, const Degrees& degrees, const Real& first, const Recurrence& next) {
  const Shape& shape = degrees.shape;
  const auto spread = [&](const Real& x) { return onnx.expand(x.in(onnx), shape); };
  const Value n = onnx.expand(degrees.n, shape), one = onnx.int_scalar(1);
  const Value zero = onnx.int_scalar(0);
  // The largest degree; 0 joins, so that the maximum of no degrees has an answer.
  const Value all = onnx.concat({onnx.flatten_to_1d(degrees.n), onnx.ints({0})}, 0);
  const Value steps = onnx.sub(onnx.reduce_max(all, {}, {.keepdims = 0}), one);
  const Value initial[] = {spread(first), spread(Real(1.0))};
  onnx::Graph* body = onnx.begin_body("recurrence");
  const Value step = onnx.body_input("step", DType::kInt64, {});
  const Value condition = onnx.body_input("condition", DType::kBool, {});
  const Real last(onnx, onnx.body_input("last", DType::kFloat64, shape));
  const Real before(onnx, onnx.body_input("before", DType::kFloat64, shape));
  const Value k = onnx.add(step, one);
  const Truth goes = {&onnx, onnx.less(k, n)};
  const Real following = next(Real(onnx, onnx.cast(k, DType::kFloat64)), last, before);
  const Value results[] = {onnx.identity(condition), select(goes, following, last).value(),
                           select(goes, last, before).value()};
  onnx.end_body(results);
  const Value least = onnx.max({steps, zero});
  const Real found(onnx, onnx.loop(least, onnx.bool_scalar(true), initial, body).front());
  const Truth none = {&onnx, onnx.less(n, zero)}, constant = {&onnx, onnx.equal(n, zero)};
  return select(none, 0.0, select(constant, 1.0, found));
}

Outputs polynomial_of(const Call& call, Emit& onnx, const Real& x, const Real& first,
                      const Recurrence& next) {
  return real_result(call, onnx, recurred(onnx, degrees_of(call, onnx, x), first, next));
}

// All four kinds of Chebyshev's satisfy p(k+1) = 2 x p(k) - p(k-1) and differ in p(1). Shifted ones
// take 2x - 1.
Outputs chebyshev(const Call& call, Emit& onnx, bool shifted, double slope, double offset) {
  const Real given = real_argument(call, onnx, "x");
  const Real x = shifted ? given + given - 1 : given;
  return polynomial_of(
      call, onnx, x, slope * x + offset,
      [x](const Real&, const Real& last, const Real& before) { return (x + x) * last - before; });
}

Outputs chebyshev_t(const Call& call, Emit& onnx) { return chebyshev(call, onnx, false, 1, 0); }
Outputs chebyshev_u(const Call& call, Emit& onnx) { return chebyshev(call, onnx, false, 2, 0); }
Outputs chebyshev_v(const Call& call, Emit& onnx) { return chebyshev(call, onnx, false, 2, -1); }
Outputs chebyshev_w(const Call& call, Emit& onnx) { return chebyshev(call, onnx, false, 2, 1); }
Outputs shifted_t(const Call& call, Emit& onnx) { return chebyshev(call, onnx, true, 1, 0); }
Outputs shifted_u(const Call& call, Emit& onnx) { return chebyshev(call, onnx, true, 2, 0); }
Outputs shifted_v(const Call& call, Emit& onnx) { return chebyshev(call, onnx, true, 2, -1); }
Outputs shifted_w(const Call& call, Emit& onnx) { return chebyshev(call, onnx, true, 2, 1); }

// The physicists' H(k+1) = 2 x H(k) - 2 k H(k-1).
Outputs hermite_h(const Call& call, Emit& onnx) {
  const Real x = real_argument(call, onnx, "x");
  return polynomial_of(call, onnx, x, x + x,
                       [x](const Real& k, const Real& last, const Real& before) {
                         return (x + x) * last - (k + k) * before;
                       });
}

// The probabilists' He(k+1) = x He(k) - k He(k-1).
Outputs hermite_he(const Call& call, Emit& onnx) {
  const Real x = real_argument(call, onnx, "x");
  return polynomial_of(call, onnx, x, x, [x](const Real& k, const Real& last, const Real& before) {
    return x * last - k * before;
  });
}

// (k + 1) L(k+1) = (2k + 1 - x) L(k) - k L(k-1).
Outputs laguerre_l(const Call& call, Emit& onnx) {
  const Real x = real_argument(call, onnx, "x");
  return polynomial_of(call, onnx, x, 1 - x,
                       [x](const Real& k, const Real& last, const Real& before) {
                         return ((k + k + 1 - x) * last - k * before) / (k + 1);
                       });
}

// (k + 1) P(k+1) = (2k + 1) x P(k) - k P(k-1).
Outputs legendre_p(const Call& call, Emit& onnx) {
  const Real x = real_argument(call, onnx, "x");
  return polynomial_of(call, onnx, x, x, [x](const Real& k, const Real& last, const Real& before) {
    return ((k + k + 1) * x * last - k * before) / (k + 1);
  });
}

constexpr Row kRows[] = {
    {"aten::special_chebyshev_polynomial_t(Tensor x, Tensor n) -> Tensor", chebyshev_t},
    {"aten::special_chebyshev_polynomial_t.n_scalar(Tensor x, Scalar n) -> Tensor", chebyshev_t},
    {"aten::special_chebyshev_polynomial_t.x_scalar(Scalar x, Tensor n) -> Tensor", chebyshev_t},
    {"aten::special_chebyshev_polynomial_u(Tensor x, Tensor n) -> Tensor", chebyshev_u},
    {"aten::special_chebyshev_polynomial_u.n_scalar(Tensor x, Scalar n) -> Tensor", chebyshev_u},
    {"aten::special_chebyshev_polynomial_u.x_scalar(Scalar x, Tensor n) -> Tensor", chebyshev_u},
    {"aten::special_chebyshev_polynomial_v(Tensor x, Tensor n) -> Tensor", chebyshev_v},
    {"aten::special_chebyshev_polynomial_v.n_scalar(Tensor x, Scalar n) -> Tensor", chebyshev_v},
    {"aten::special_chebyshev_polynomial_v.x_scalar(Scalar x, Tensor n) -> Tensor", chebyshev_v},
    {"aten::special_chebyshev_polynomial_w(Tensor x, Tensor n) -> Tensor", chebyshev_w},
    {"aten::special_chebyshev_polynomial_w.n_scalar(Tensor x, Scalar n) -> Tensor", chebyshev_w},
    {"aten::special_chebyshev_polynomial_w.x_scalar(Scalar x, Tensor n) -> Tensor", chebyshev_w},
    {"aten::special_hermite_polynomial_h(Tensor x, Tensor n) -> Tensor", hermite_h},
    {"aten::special_hermite_polynomial_h.n_scalar(Tensor x, Scalar n) -> Tensor", hermite_h},
    {"aten::special_hermite_polynomial_h.x_scalar(Scalar x, Tensor n) -> Tensor", hermite_h},
    {"aten::special_hermite_polynomial_he(Tensor x, Tensor n) -> Tensor", hermite_he},
    {"aten::special_hermite_polynomial_he.n_scalar(Tensor x, Scalar n) -> Tensor", hermite_he},
    {"aten::special_hermite_polynomial_he.x_scalar(Scalar x, Tensor n) -> Tensor", hermite_he},
    {"aten::special_laguerre_polynomial_l(Tensor x, Tensor n) -> Tensor", laguerre_l},
    {"aten::special_laguerre_polynomial_l.n_scalar(Tensor x, Scalar n) -> Tensor", laguerre_l},
    {"aten::special_laguerre_polynomial_l.x_scalar(Scalar x, Tensor n) -> Tensor", laguerre_l},
    {"aten::special_legendre_polynomial_p(Tensor x, Tensor n) -> Tensor", legendre_p},
    {"aten::special_legendre_polynomial_p.n_scalar(Tensor x, Scalar n) -> Tensor", legendre_p},
    {"aten::special_legendre_polynomial_p.x_scalar(Scalar x, Tensor n) -> Tensor", legendre_p},
    {"aten::special_shifted_chebyshev_polynomial_t(Tensor x, Tensor n) -> Tensor", shifted_t},
    {"aten::special_shifted_chebyshev_polynomial_t.n_scalar(Tensor x, Scalar n) -> Tensor",
     shifted_t},
    {"aten::special_shifted_chebyshev_polynomial_t.x_scalar(Scalar x, Tensor n) -> Tensor",
     shifted_t},
    {"aten::special_shifted_chebyshev_polynomial_u(Tensor x, Tensor n) -> Tensor", shifted_u},
    {"aten::special_shifted_chebyshev_polynomial_u.n_scalar(Tensor x, Scalar n) -> Tensor",
     shifted_u},
    {"aten::special_shifted_chebyshev_polynomial_u.x_scalar(Scalar x, Tensor n) -> Tensor",
     shifted_u},
    {"aten::special_shifted_chebyshev_polynomial_v(Tensor x, Tensor n) -> Tensor", shifted_v},
    {"aten::special_shifted_chebyshev_polynomial_v.n_scalar(Tensor x, Scalar n) -> Tensor",
     shifted_v},
    {"aten::special_shifted_chebyshev_polynomial_v.x_scalar(Scalar x, Tensor n) -> Tensor",
     shifted_v},
    {"aten::special_shifted_chebyshev_polynomial_w(Tensor x, Tensor n) -> Tensor", shifted_w},
    {"aten::special_shifted_chebyshev_polynomial_w.n_scalar(Tensor x, Scalar n) -> Tensor",
     shifted_w},
    {"aten::special_shifted_chebyshev_polynomial_w.x_scalar(Scalar x, Tensor n) -> Tensor",
     shifted_w},
};

}  // namespace

std::span<const Row> orthogonal_polynomials_rows() { return kRows; }

}  // namespace sardonyx::aten
