// The gamma function's family: lgamma, digamma, polygamma, zeta, and the incomplete gamma
// functions.
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "aten/families.h"
#include "aten/special/real.h"

namespace sardonyx::aten {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kPi = std::numbers::pi;
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// sin(pi x) of the distance to the nearest whole number: exactly 0 at whole numbers.
Real sine_of_pi(const Real& x) {
  const Real nearest = round(x);
  const Real rest = sin((x - nearest) * kPi);
  const Real odd = nearest - 2 * floor(nearest * 0.5);
  return select(odd == 1, -rest, rest);
}

// --- log |gamma|

// Stirling's series from 8 on (Abramowitz & Stegun 6.1.41); below, gamma(x) = gamma(x + 8) over
// x (x + 1) ... (x + 7).
constexpr double kStirling[] = {1.0 / 12,   -1.0 / 360,      1.0 / 1260, -1.0 / 1680,
                                1.0 / 1188, -691.0 / 360360, 1.0 / 156,  -3617.0 / 122400};

// For x > 0.
Real log_gamma_above(const Real& x) {
  const Truth small = x < 8;
  const Real bounded = smaller(x, 8);
  Real product = bounded;
  for (int i = 1; i < 8; ++i) product = product * (bounded + i);
  const Real z = select(small, x + 8, x);
  const Real series = polynomial(kStirling, 1 / (z * z)) / z;
  const Real stirling = (z - 0.5) * log(z) - z + 0.5 * std::log(2 * kPi) + series;
  return select(small, stirling - log(product), stirling);
}

// Below one half gamma(x) gamma(1 - x) = pi / sin(pi x) (6.1.17).
Real log_gamma(const Real& x) {
  const Truth low = x < 0.5;
  const Real above = log_gamma_above(select(low, 1 - x, x));
  const Real reflected = std::log(kPi) - log(abs(sine_of_pi(x))) - above;
  const Real y = select(low, reflected, above);
  return select(is_infinite(x), kInfinity, y);
}

Outputs lgamma(const Call& call, Emit& onnx) {
  const Real x = real_argument(call, onnx);
  // Exactly zero there, where a sign may be asked for.
  return real_result(call, onnx, select(x == 1 || x == 2, 0.0, log_gamma(x)));
}

// log gamma_p(x) = p (p - 1) / 4 log pi + sum of lgamma(x - i / 2), i < p.
Outputs multigammaln(const Call& call, Emit& onnx) {
  const Real x = real_argument(call, onnx);
  const std::int64_t p = call.integer("p");
  const auto count = static_cast<double>(p);
  Real sum = count * (count - 1) / 4 * std::log(kPi);
  for (std::int64_t i = 0; i < p; ++i) {
    sum = sum + log_gamma(x - static_cast<double>(i) / 2);
  }
  return real_result(call, onnx, sum);
}

// --- its derivatives

// log z - 1/(2z) - the series in 1/z^2 (6.3.18), from 8 on; below, by recurrence.
constexpr double kDigamma[] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                               1.0 / 132, -691.0 / 32760, 1.0 / 12};

Real digamma_above(const Real& x) {
  const Truth small = x < 8;
  const Real bounded = smaller(x, 8);
  Real sum = 1 / bounded;
  for (int i = 1; i < 8; ++i) sum = sum + 1 / (bounded + i);
  const Real z = select(small, x + 8, x);
  const Real square = 1 / (z * z);
  const Real y = log(z) - 0.5 / z - square * polynomial(kDigamma, square);
  return select(small, y - sum, y);
}

// Reflected below zero: psi(1 - x) - pi / tan(pi x) (6.3.7). At 0 an infinity of the other sign.
Outputs digamma(const Call& call, Emit& onnx) {
  const Real x = real_argument(call, onnx);
  const Truth low = x < 0;
  const Real above = digamma_above(select(low, 1 - x, x));
  const Real rest = x - round(x);
  const Real cotangent = cos(rest * kPi) / sin(rest * kPi);
  const Real reflected = select(rest == 0, kNan, above - kPi * cotangent);
  const Real y = select(low, reflected, above);
  const Real end = select(x == kInfinity, x, y);
  return real_result(call, onnx, select(x == 0, -(1 / x), end));
}

// Hurwitz's zeta by Euler and Maclaurin: the terms (q + k)^-s while q + k <= 9 and at least nine of
// them, then the integral and Bernoulli's numbers over factorials.
constexpr std::array kBernoulli = {1.0 / 12,
                                   -1.0 / 720,
                                   1.0 / 30240,
                                   -1.0 / 1209600,
                                   1.0 / 47900160,
                                   -691.0 / 1307674368000,
                                   1.0 / 74724249600,
                                   -3617.0 / 10670622842880000,
                                   43867.0 / 5109094217170944000,
                                   -174611.0 / 802857662698291200000.0};

struct Started {
  Real sum, place;
};

// The sum of the first terms, and where it stopped. Far below zero there are many.
Started first_terms(Emit& onnx, const Real& s, const Real& q) {
  const Shape shape = (s + q).value().shape();
  const Value zero = onnx.zero(DType::kFloat64);
  const Value start = onnx.expand(q.in(onnx), shape);
  const Value initial[] = {onnx.expand(zero, shape), start};
  onnx::Graph* body = onnx.begin_body("zeta");
  const Value step = onnx.body_input("step", DType::kInt64, {});
  onnx.body_input("condition", DType::kBool, {});
  const Real sum(onnx, onnx.body_input("sum", DType::kFloat64, shape));
  const Real place(onnx, onnx.body_input("place", DType::kFloat64, shape));
  const Truth early = {&onnx, onnx.less(step, onnx.int_scalar(9))};
  const Truth goes = early || place <= 9;
  const Real next_sum = select(goes, sum + pow(place, -s), sum);
  const Real next_place = select(goes, place + 1, place);
  const Value low = onnx.cast((next_place <= 9).value, DType::kInt64);
  const Value any_low = onnx.greater(onnx.reduce_sum(low, {}, {.keepdims = 0}), onnx.int_scalar(0));
  const Value again = onnx.or_(onnx.less(step, onnx.int_scalar(8)), any_low);
  const Value results[] = {again, next_sum.value(), next_place.value()};
  onnx.end_body(results);
  const Value found = onnx.bool_scalar(true);
  const onnx::Values last = onnx.loop({}, found, initial, body);
  return {Real(onnx, last[0]), Real(onnx, last[1])};
}

Real zeta_of(Emit& onnx, const Real& s, const Real& q) {
  const Truth whole = floor(q) == q;
  // What has no finite answer must not keep the loop going.
  const Truth pole = q <= 0 && whole;
  const Truth nowhere = is_infinite(q) || is_nan(q) || pole;
  const Started first = first_terms(onnx, s, select(nowhere, 1, q));
  const Real w = first.place;
  const Real power = pow(w, -s);
  Real sum = first.sum + power * w / (s - 1) + 0.5 * power;
  Real factor = s * power / w;
  for (std::size_t i = 0; i < kBernoulli.size(); ++i) {
    const double k = 2 * static_cast<double>(i);
    sum = sum + factor * kBernoulli[i];
    factor = factor * (s + (k + 1)) * (s + (k + 2)) / (w * w);
  }
  // PyTorch's answers where the series has none.
  const Truth fractional = q < 0 && !(floor(s) == s);
  const Real end = select(q == 1, 1.0, select(q < 1, kInfinity, kNan));
  const Real y = select(is_infinite(q) || is_nan(q), kNan, select(s == kInfinity, end, sum));
  const Real below = select(pole, kInfinity, select(fractional, kNan, y));
  return select(s == 1, kInfinity, select(s < 1, kNan, below));
}

Outputs zeta(const Call& call, Emit& onnx) {
  return real_result(call, onnx,
                     zeta_of(onnx, real_argument(call, onnx), real_argument(call, onnx, "other")));
}

// (-1)^(n+1) n! zeta(n + 1, x) (6.4.10). The trigamma function is reflected below one half (6.4.7).
Outputs polygamma(const Call& call, Emit& onnx) {
  const std::int64_t n = call.integer("n");
  if (n == 0) return digamma(call, onnx);
  const Real x = real_argument(call, onnx);
  const Real order(onnx, onnx.scalar(static_cast<double>(n + 1), DType::kFloat64));
  if (n == 1) {
    const Truth low = x < 0.5;
    const Real series = zeta_of(onnx, order, select(low, 1 - x, x));
    const Real above = select(x == kInfinity, 0.0, series);
    const Real sine = sine_of_pi(x);
    return real_result(call, onnx, select(low, kPi * kPi / (sine * sine) - above, above));
  }
  const double factorial = std::exp(std::lgamma(static_cast<double>(n) + 1));
  return real_result(call, onnx, (n % 2 == 1 ? factorial : -factorial) * zeta_of(onnx, order, x));
}

// --- incomplete

// Carries numbers through a loop until `step` says that no element goes on.
using Step = std::function<std::vector<Real>(const std::vector<Real>& carried, Truth& goes)>;

std::vector<Real> iterated(Emit& onnx, const std::vector<Real>& start, std::int64_t limit,
                           const Step& step) {
  onnx::Values initial;
  for (const Real& x : start) initial.push_back(x.value());
  onnx::Graph* body = onnx.begin_body("series");
  onnx.body_input("step", DType::kInt64, {});
  onnx.body_input("condition", DType::kBool, {});
  std::vector<Real> carried;
  for (const Value x : initial) {
    carried.emplace_back(onnx, onnx.body_input("carried", DType::kFloat64, x.shape()));
  }
  Truth goes = {&onnx, {}};
  const std::vector<Real> next = step(carried, goes);
  const Value left = onnx.reduce_sum(onnx.cast(goes.value, DType::kInt64), {}, {.keepdims = 0});
  onnx::Values results = {onnx.greater(left, onnx.int_scalar(0))};
  for (const Real& x : next) results.push_back(x.value());
  onnx.end_body(results);
  const onnx::Values last =
      onnx.loop(onnx.int_scalar(limit), onnx.bool_scalar(true), initial, body);
  std::vector<Real> found;
  for (const Value x : last) found.emplace_back(onnx, x);
  return found;
}

Real spread(Emit& onnx, const Real& x, const Shape& shape) {
  return {onnx, onnx.expand(x.in(onnx), shape)};
}

// x^a exp(-x) / gamma(a)
Real leading_factor(const Real& a, const Real& x) { return exp(a * log(x) - x - log_gamma(a)); }

// P(a, x) = factor / a (1 + x/(a+1) + x^2/((a+1)(a+2)) + ...) (6.5.29), for x <= a + 1.
Real lower_series(Emit& onnx, const Real& a, const Real& x, const Shape& shape) {
  const Real one = spread(onnx, Real(1.0), shape);
  const auto sums = iterated(onnx, {one, one, spread(onnx, a, shape)}, 20000,
                             [&](const std::vector<Real>& c, Truth& goes) {
                               const Real place = c[2] + 1;
                               const Real term = c[1] * (x / place);
                               goes = term > c[0] * kEpsilon;
                               return std::vector<Real>{c[0] + term, term, place};
                             });
  return leading_factor(a, x) / a * sums[0];
}

// Q(a, x) = factor / (x+1-a - 1(1-a)/(x+3-a - 2(2-a)/(x+5-a - ...))) by Lentz's method, for
// x > a + 1.
Real upper_fraction(Emit& onnx, const Real& a, const Real& x, const Shape& shape) {
  const Real b = x + 1 - a;
  const Real d = spread(onnx, 1 / b, shape);
  const Real c = spread(onnx, Real(1e300), shape);
  const Real one = spread(onnx, Real(1.0), shape), zero = spread(onnx, Real(0.0), shape);
  const auto last = iterated(onnx, {d, d, c, spread(onnx, b, shape), zero}, 20000,
                             [&](const std::vector<Real>& s, Truth& goes) {
                               const Real i = s[4] + 1;
                               const Real factor = i * (a - i);
                               const Real place = s[3] + 2;
                               const Real next_d = 1 / (factor * s[1] + place);
                               const Real next_c = place + factor / s[2];
                               const Real change = next_c * next_d;
                               goes = abs(change - 1) > kEpsilon * 2;
                               return std::vector<Real>{s[0] * change, next_d, next_c, place, i};
                             });
  return leading_factor(a, x) * last[0] * one;
}

// Both halves where each converges; the ends as PyTorch has them.
Real incomplete_gamma(const Call& call, Emit& onnx, bool upper) {
  const Real a = real_argument(call, onnx), x = real_argument(call, onnx, "other");
  const Shape shape = (a + x).value().shape();
  const Truth inside = a > 0 && x > 0 && !is_infinite(a) && !is_infinite(x);
  const Truth near = x <= a + 1;
  // Elements that another case answers take harmless arguments, or the loops would not end.
  const Truth in_series = inside && near, in_fraction = inside && !near;
  const Real lower = lower_series(onnx, select(in_series, a, 1), select(in_series, x, 1), shape);
  const Real beyond =
      upper_fraction(onnx, select(in_fraction, a, 1), select(in_fraction, x, 3), shape);
  const Real p = select(near, lower, 1 - beyond), q = select(near, 1 - lower, beyond);
  const double none = upper ? 1 : 0, all = upper ? 0 : 1;
  // In PyTorch's order: some ends are answered before NaN is looked at.
  Real y = select(is_nan(a) || is_nan(x), kNan, upper ? q : p);
  y = select(is_infinite(x), all, y);
  y = select(is_infinite(a), select(is_infinite(x), kNan, none), y);
  y = select(x == 0, none, y);
  y = select(a == 0, select(x > 0, all, kNan), y);
  return select(a < 0 || x < 0, kNan, y);
}

Outputs igamma(const Call& call, Emit& onnx) {
  return real_result(call, onnx, incomplete_gamma(call, onnx, false));
}
Outputs igammac(const Call& call, Emit& onnx) {
  return real_result(call, onnx, incomplete_gamma(call, onnx, true));
}

constexpr Row kRows[] = {
    {"aten::digamma(Tensor self) -> Tensor", digamma},
    {"aten::igamma(Tensor self, Tensor other) -> Tensor", igamma},
    {"aten::igammac(Tensor self, Tensor other) -> Tensor", igammac},
    {"aten::lgamma(Tensor self) -> Tensor", lgamma},
    {"aten::mvlgamma(Tensor self, int p) -> Tensor", multigammaln},
    {"aten::polygamma(int n, Tensor self) -> Tensor", polygamma},
    {"aten::special_digamma(Tensor self) -> Tensor", digamma},
    {"aten::special_gammainc(Tensor self, Tensor other) -> Tensor", igamma},
    {"aten::special_gammaincc(Tensor self, Tensor other) -> Tensor", igammac},
    {"aten::special_gammaln(Tensor self) -> Tensor", lgamma},
    {"aten::special_multigammaln(Tensor self, int p) -> Tensor", multigammaln},
    {"aten::special_polygamma(int n, Tensor self) -> Tensor", polygamma},
    {"aten::special_psi(Tensor self) -> Tensor", digamma},
    {"aten::special_zeta(Tensor self, Tensor other) -> Tensor", zeta},
    {"aten::special_zeta.other_scalar(Tensor self, Scalar other) -> Tensor", zeta},
    {"aten::special_zeta.self_scalar(Scalar self, Tensor other) -> Tensor", zeta},
};

}  // namespace

std::span<const Row> gamma_rows() { return kRows; }

}  // namespace sardonyx::aten
