// The error function and the normal distribution, and their inverses.
//
// The coefficients are Chebyshev interpolations made with 40 digits (mpmath), written in powers of
// a variable v that runs over [-1, 1]; good to some 1e-13.
#include <cmath>
#include <limits>
#include <numbers>

#include "aten/families.h"
#include "aten/special/real.h"

namespace sardonyx::aten {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kSqrt2 = std::numbers::sqrt2;

// exp(x^2) erfc(x) (x + 2) in (x - 2) / (x + 2), for x >= 0.
constexpr double kErfcx[] = {
    1.0215827052418662,      -0.6871606844138821,     0.27947209258741346,
    -0.036442231492540215,   -0.021510662925794007,   0.006479184589747246,
    0.0030906253572328536,   -0.0008372898274888156,  -0.0006631602374127035,
    3.432970248687865e-05,   0.00014479576487806895,  3.431152140400208e-05,
    -2.2436722886553524e-05, -1.6514063935586766e-05, -8.80337891849446e-08,
    4.249149354521405e-06,   1.1452118288331577e-06,  -5.888512415739598e-07,
    -2.2446959701248417e-07, 2.5459928272928234e-08};
// erfinv(x) / x in w / 3.125 - 1 for w = -log(1 - x^2) <= 6.25; then in sqrt(w) up to 4, 12 and
// 28 (Giles, Approximating the erfinv function, 2010).
constexpr double kErfinvSmall[] = {
    1.6536545626831027,      0.7504943200805816,    -0.058922567103156236,
    -0.022604447490882557,   0.01780836178101595,   -0.0041373137034607715,
    -0.0012716916131072155,  0.0012324799691884928, -0.00026439889941856165,
    -0.00011686315311966512, 9.338997199503711e-05, -1.509879148849466e-05,
    -1.1314402958920775e-05, 7.253848487052251e-06, -5.970444427697113e-07,
    -1.1965301493557444e-06, 4.62436749279542e-07,  8.494984399701255e-08,
    -6.317803698604811e-08};
constexpr double kErfinvMedium[] = {
    3.0838856104922208,     0.7539442257704388,      0.003021139436378452,
    -0.0015825410805005446, 0.0007883078511207886,   -0.00040063582362645457,
    0.0001696650247910566,  -4.739103364244686e-05,  2.405844775330315e-06,
    5.124637844331936e-06,  -2.6647145580192655e-06, 5.316301434881299e-07,
    9.270498143716796e-08,  -1.0044742125987159e-07, 2.667433142240423e-08,
    3.1471350038394126e-09, -2.7028685093680327e-09};
constexpr double kErfinvLarge[] = {
    7.877113606162262,       4.030427418685188,       -0.007518123840476823,
    0.0012224312741991666,   0.00032166400178135755,  -0.0005221069757894238,
    0.00040442854951240636,  -0.0002592933559736401,  0.00015051892432738157,
    -8.381278080119824e-05,  5.457403419260421e-05,   -2.9181827488523596e-05,
    -1.9206923851382706e-05, 1.2625603988086337e-05,  7.443264725494373e-05,
    -4.48905266296177e-05,   -0.00010466627280932086, 6.509369544093698e-05,
    9.854964289065844e-05,   -6.276504583848122e-05,  -5.315062215230484e-05,
    3.4975434745262125e-05,  1.2856118633017603e-05,  -8.80917027158143e-06};
constexpr double kErfinvHuge[] = {
    19.92805556415821,      8.018810913920076,      -0.005537381195329544,
    0.0016864760558868818,  -0.0005163833541877178, 0.00015602167624961,
    -4.559069290993634e-05, 1.2486118924047217e-05, -3.016305690921203e-06,
    4.972825820718898e-07,  1.1471439176891781e-07, -1.3962441053159736e-07,
    1.9250135094220365e-08, -1.760853600970328e-08, 5.4143951378978296e-08,
    -2.4534369785704554e-08};

// exp(x^2) erfc(x) for x >= 0.
Real scaled_tail(const Real& x) {
  // At infinity the quotient would be NaN; 1e18 is as far as it matters.
  const Real finite = smaller(x, 1e18);
  const Real sum = finite + 2;
  const Real y = polynomial(kErfcx, (finite - 2) / sum) / sum;
  const Real end = select(x == kInfinity, 0.0, y);
  return select(is_nan(x), x, end);
}

Real erfc_of(const Real& x) {
  const Real size = abs(x);
  // exp(-28^2) is 0 in float64.
  const Real bounded = smaller(size, 28);
  const Real tail = scaled_tail(size) * exp(-(bounded * bounded));
  return select(x < 0, 2 - tail, tail);
}

Real erfcx_of(const Real& x) {
  const Real tail = scaled_tail(abs(x));
  return select(x < 0, 2 * exp(x * x) - tail, tail);
}

// erfinv(x) where w = -log(1 - x^2), which the callers know better than x itself near its ends.
Real erfinv_of(const Real& x, const Real& w) {
  const Real near = larger(smaller(w, 784), 0);
  const Real root = sqrt(near);
  const Real medium = polynomial(kErfinvMedium, (root - 3.25) / 0.75);
  const Real large = polynomial(kErfinvLarge, (root - 8) / 4);
  const Real huge = polynomial(kErfinvHuge, (root - 20) / 8);
  const Real small = polynomial(kErfinvSmall, near / 3.125 - 1);
  const Real far = select(root < 4, medium, select(root < 12, large, huge));
  return x * select(near < 6.25, small, far);
}

Outputs erf(const Call& call, Emit& onnx) {
  return real_result(call, onnx, erf(real_argument(call, onnx)));
}

Outputs erfc(const Call& call, Emit& onnx) {
  return real_result(call, onnx, erfc_of(real_argument(call, onnx)));
}

Outputs erfcx(const Call& call, Emit& onnx) {
  return real_result(call, onnx, erfcx_of(real_argument(call, onnx)));
}

Outputs erfinv(const Call& call, Emit& onnx) {
  const Real x = real_argument(call, onnx);
  const Real inside = erfinv_of(x, -log((1 - x) * (1 + x)));
  const Real ends = select(abs(x) == 1, x * kInfinity, inside);
  return real_result(call, onnx, select(abs(x) > 1, kNan, ends));
}

// The normal distribution function, Phi(x) = erfc(-x / sqrt 2) / 2.
Outputs ndtr(const Call& call, Emit& onnx) {
  const Real x = real_argument(call, onnx);
  return real_result(call, onnx, erfc_of(-(x / kSqrt2)) * 0.5);
}

// Far below zero through the scaled function, which does not underflow; above through log1p.
Outputs log_ndtr(const Call& call, Emit& onnx) {
  const Real x = real_argument(call, onnx);
  const Real t = x / kSqrt2;
  const Real low = log(scaled_tail(abs(t)) * 0.5) - t * t;
  const Real high = log1p(-(erfc_of(t) * 0.5));
  return real_result(call, onnx, select(x < -1, low, high));
}

// sqrt 2 erfinv(2p - 1), with 1 - (2p - 1)^2 = 4p (1 - p).
Outputs ndtri(const Call& call, Emit& onnx) {
  const Real p = real_argument(call, onnx);
  const Real w = -log(4 * p * (1 - p));
  const Real inside = kSqrt2 * erfinv_of(2 * p - 1, w);
  const Real ends = select(p == 0, -kInfinity, select(p == 1, kInfinity, inside));
  return real_result(call, onnx, select((p < 0) || (p > 1), kNan, ends));
}

constexpr Row kRows[] = {
    {"aten::erfc(Tensor self) -> Tensor", erfc},
    {"aten::erfinv(Tensor self) -> Tensor", erfinv},
    {"aten::special_erf(Tensor self) -> Tensor", erf},
    {"aten::special_erfc(Tensor self) -> Tensor", erfc},
    {"aten::special_erfcx(Tensor self) -> Tensor", erfcx},
    {"aten::special_erfinv(Tensor self) -> Tensor", erfinv},
    {"aten::special_log_ndtr(Tensor self) -> Tensor", log_ndtr},
    {"aten::special_ndtr(Tensor self) -> Tensor", ndtr},
    {"aten::special_ndtri(Tensor self) -> Tensor", ndtri},
};

}  // namespace

std::span<const Row> error_function_rows() { return kRows; }

}  // namespace sardonyx::aten
