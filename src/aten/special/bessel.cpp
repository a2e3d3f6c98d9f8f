// Bessel and Airy functions: near zero by polynomials, far away by their asymptotic forms with
// fitted factors (Abramowitz & Stegun, 9.2, 9.6-9.8, 10.4).
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
constexpr double kPi = std::numbers::pi;

// exp(-x) I0(x) and exp(-x) I1(x) / x in x / 4 - 1 for 0 <= x <= 8.
constexpr double kI0Near[] = {
    0.2070019212239867,      -0.1130043268859253,    0.09451562853987036,
    -0.08904344138987756,    0.08734341618391318,    -0.08496338002097831,
    0.07927522564917053,     -0.06954120836699104,   0.0567770356944587,
    -0.04298584790615264,    0.030177882759453076,   -0.019683153796268244,
    0.011960221700418152,    -0.006790801144970594,  0.003616666062393141,
    -0.0018153168701613499,  0.0008573022001065411,  -0.0003779446624709645,
    0.0001609813654695274,   -7.025157424742582e-05, 2.6560101259821017e-05,
    -6.4005318551153235e-06, 2.4199125561457305e-06, -2.0359216641408003e-06,
    6.295353657696755e-07};
constexpr double kI1Near[] = {
    0.044687709875608835,   -0.06112433803077609,    0.06805759990984044,   -0.0684826061082573,
    0.06376740368449606,    -0.05528004175798831,    0.044674573371330586,  -0.03367132526425205,
    0.023686007988741115,   -0.015571509823127487,   0.009584021629800054,  -0.0055337574929657934,
    0.0030055219946102545,  -0.0015409697555132911,  0.000745134432329414,  -0.0003376440211320909,
    0.00014737141074652017, -6.527053387712227e-05,  2.537909714866115e-05, -6.552192628463176e-06,
    2.522297445960407e-06,  -2.0791886356857052e-06, 6.601386802278765e-07};
// sqrt(x) exp(-x) I0(x) and I1 so, in 16 / x - 1 for x >= 8.
constexpr double kI0Far[] = {
    0.4021765094450468,     0.003360551983557986,   0.00013621607051653896,  1.1143044608250277e-05,
    1.4839162356071916e-06, 2.971827218512678e-07,  8.82244336444566e-08,    4.043902774422952e-08,
    2.3469300177103726e-08, 4.1011197865868726e-09, -1.1237576654014032e-08, -7.522484351911628e-09,
    1.4900578136493131e-09, 1.7481053460479397e-09};
constexpr double kI1Far[] = {
    0.389398459025826,       -0.009749577193123566,   -0.0002192357592086362,
    -1.503855824184271e-05,  -1.8349912812623903e-06, -3.482049250743318e-07,
    -9.943418818432757e-08,  -4.426251300986023e-08,  -2.555993687648253e-08,
    -4.9224539244423005e-09, 1.1720188542174487e-08,  8.093160032086243e-09,
    -1.4956041310048365e-09, -1.8476216781991088e-09};
// I0(x) and I1(x) / x in x^2 / 2 - 1 for 0 <= x <= 2.
constexpr double kI0Small[] = {
    1.5660829297563308,     0.6358617281560685,    0.07358986836168832,    0.0039285651056407064,
    0.00011982068264150238, 2.357578968404164e-06, 3.2367353277309056e-08, 3.2735596779815805e-10};
constexpr double kI1Small[] = {
    0.6358617281560675,     0.1471797367221067,    0.011785695316945507,   0.0004792827432653279,
    1.1787894764062287e-05, 1.941736411910961e-07, 2.2915541414761285e-09, 2.0319033576248955e-11};
// K0(x) + log(x/2) I0(x) and x (K1(x) - log(x/2) I1(x)) in x^2 / 2 - 1 for x <= 2.
constexpr double kK0Near[] = {-0.3036207729157981,   0.3404973210133803,    0.07177701034376822,
                              0.005053392643204889,  0.0001828055514634667, 4.054506575966985e-06,
                              6.094452405961982e-08, 6.623716999097623e-10};
constexpr double kK1Near[] = {
    0.8850882877295894,     -0.33224095524029124,   -0.24383852886774351,
    -0.027854235220063136,  -0.0013831688466169922, -3.891868959505985e-05,
    -7.081133709498488e-07, -9.033525711795808e-09, -8.533544263122605e-11};
// sqrt(x) exp(x) K0(x) and K1 so, in 4 / x - 1 for x >= 2.
constexpr double kK0Far[] = {
    1.2185953385133905,      -0.031071461824568533,  0.0030328918101068755,
    -0.0004797690720828925,  9.956055545626226e-05,  -2.473499317623945e-05,
    7.002134480635871e-06,   -2.192473878754425e-06, 7.434653894656485e-07,
    -2.6475635806889514e-07, 1.007340380898304e-07,  -4.8682786908040685e-08,
    2.108871913813232e-08,   -2.94967608149978e-10,  -3.6070947047923237e-10,
    -4.8523034449821174e-09, 2.4244660231997704e-09};
constexpr double kK1Far[] = {
    1.363151890371342,      0.10334973775350777,    -0.005566729879887754,   0.0007357241719658635,
    -0.0001395902284763452, 3.2843630118678796e-05, -8.961084076053209e-06,  2.7314852941649104e-06,
    -9.074689474096802e-07, 3.1835622752015173e-07, -1.1956876720411411e-07, 5.66502414453029e-08,
    -2.430029052834409e-08, 6.03778713764059e-10,   2.898917742299388e-10,   5.45264866818432e-09,
    -2.711460732301694e-09};
// J0(x), J1(x) / x, Y0(x) - 2/pi log(x) J0(x) and (Y1(x) - 2/pi (log(x) J1(x) - 1/x)) / x in
// x^2 / 32 - 1 for 0 <= x <= 8.
constexpr double kJ0Near[] = {
    0.045829664859855,     0.9303012472958556,      -0.648469283091224,    -0.8080888076695384,
    1.038379461208363,     -0.50746804584948,       0.14598884817978902,   -0.028472718596603018,
    0.004058080096910495,  -0.00044354596322745905, 3.847157376669198e-05, -2.7176893895853834e-06,
    1.607412754970189e-07, -7.958838623946637e-09};
constexpr double kJ1Near[] = {
    -0.05814382795599107,  0.08105866038683615,     0.15151665143802934,    -0.2595948653121984,
    0.15858376432825463,   -0.05474581800272764,    0.012456814383974162,   -0.0020290402148178885,
    0.0002494946097789437, -2.4044548749157285e-05, 1.8684052389563645e-06, -1.2062990113547834e-07,
    6.469081837460791e-09};
constexpr double kY0Near[] = {
    -0.38225065445951245,    -0.8284358903604555,   1.6470964788831137,     0.14412632369270253,
    -1.0775477339586625,     0.6721770783483223,    -0.21895747013944325,   0.04636704765045012,
    -0.00702574340609073,    0.0008061586943167506, -7.279197530055634e-05, 5.321189224110633e-06,
    -3.2435302080560945e-07, 1.648511929726824e-08};
constexpr double kY1Near[] = {
    0.07075985882117701,     -0.24337743079193103,  0.023367571721292436,    0.23507209206668706,
    -0.19639839860408562,    0.078547869222593,     -0.0196287568044145,     0.0034224907389127867,
    -0.00044381742545220867, 4.467433300087056e-05, -3.6008797376881145e-06, 2.3804508844312395e-07,
    -1.3240629286749096e-08, 6.200348033070887e-10};
// sqrt(pi x / 2) J = P cos(t) - Q / x sin(t), Y = P sin(t) + Q / x cos(t) with t = x - pi/4 (- pi/2
// for order 1), in 128 / x^2 - 1 for x >= 8.
constexpr double kP0[] = {0.99945727578821,        -0.0005363673192034384, 6.137417420036622e-06,
                          -2.0527478699533707e-07, 1.2797127373827266e-08, -1.2106094669911453e-09,
                          1.6536280256389795e-10,  -2.7224886585285653e-11};
constexpr double kQ0[] = {-0.12444091103610815,   0.0005466519276546195,   -1.1817110580124132e-05,
                          5.685010693959448e-07,  -4.5350801563822564e-08, 5.13249160956469e-09,
                          -7.538443325979402e-10, 1.538651603175602e-10,   -3.3539367772153797e-11};
constexpr double kP1[] = {1.0009070262781277,     0.000898804941660262,    -7.95969614966971e-06,
                          2.453679909602863e-07,  -1.4701327061280622e-08, 1.3586817885205128e-09,
                          -1.825325287137717e-10, 2.972588010402764e-11};
constexpr double kQ1[] = {0.3742149922195918,     -0.0007697167054502784, 1.4569614723298097e-05,
                          -6.633610182469619e-07, 5.136220570570436e-08,  -5.706154427726617e-09,
                          8.275623982965198e-10,  -1.670803844901018e-10, 3.616454403411779e-11};
// Ai(x) in x / 4 for |x| <= 4.
constexpr double kAiryNear[] = {
    0.35502805388784475,   -1.0352776151712282,    -1.2375114566604889e-11,
    3.7869659081371503,    -5.521480613320987,     -3.3031732156466466e-11,
    8.078860576668026,     -8.413684744506924,     4.2402173543927505e-07,
    7.181209409300593,     -5.983068671602432,     1.6482271870424043e-07,
    3.481822733887311,     -2.454591742934124,     -0.00010172874350185901,
    1.061124613020274,     -0.6542548436941695,    -1.692994059058485e-05,
    0.2212846146355311,    -0.12244872905733653,   0.0010080750867220072,
    0.03374278077824156,   -0.01809656922338292,   0.0001020691045580941,
    0.004812638848792396,  -0.0019109571257545888, -0.00047730293658785385,
    0.0004290493852139341, 5.6279484092978995e-06, -3.4727379515087015e-05};
// 2 sqrt(pi) x^(1/4) exp(z) Ai(x) in 32 / (3 z) - 1 for x >= 4, z = 2/3 x^(3/2).
constexpr double kAiryFar[] = {
    0.9937884146228121,      -0.005937085316228469,  0.00025291100433644123,
    -1.9231950822409823e-05, 2.0356505578398403e-06, -2.697901186771772e-07,
    4.22412537932566e-08,    -7.471746271682432e-09, 1.4774407585521114e-09,
    -3.8313209830805877e-10, 9.151969839928665e-11};
// sqrt(pi) x^(1/4) Ai(-x) = sin(z + pi/4) F - cos(z + pi/4) G / z in 2 (16/3 / z)^2 - 1.
constexpr double kAiryF[] = {
    0.999363720981151,      -0.0006209941419704013,  1.4258707775928201e-05, -9.054496324976862e-07,
    1.0041999749760988e-07, -1.5943414417914458e-08, 3.2493191625967008e-09, -7.53815705309773e-10,
    2.0717346864635594e-10, -1.0639372582866181e-10, 3.9328684010151313e-11};
constexpr double kAiryG[] = {
    0.06880857417663047,    -0.0006071316848756626, 2.601112879750264e-05,
    -2.324701537196828e-06, 3.22954201598786e-07,   -6.02924419176398e-08,
    1.3999340177839358e-08, -3.806590985855451e-09, 1.0091051727492736e-09,
    -3.235154532230454e-10, 2.580487743212127e-10,  -1.0931267154770886e-10};

// --- of the first and second kind

struct Order {
  std::span<const double> near, near_second, p, q;
  double number;  // 0 or 1
};
constexpr Order kZero = {kJ0Near, kY0Near, kP0, kQ0, 0};
constexpr Order kOne = {kJ1Near, kY1Near, kP1, kQ1, 1};

// For 0 <= x <= 8.
Real j_near(const Order& order, const Real& x, const Real& v) {
  const Real y = polynomial(order.near, v);
  return order.number == 0 ? y : x * y;
}

struct Wave {
  Real amplitude, p, q, angle;
};

// What J and Y share from 8 on.
Wave wave(const Order& order, const Real& x) {
  const Real far = larger(x, 8);
  const Real v = 128 / (far * far) - 1;
  return {sqrt(2 / (kPi * far)), polynomial(order.p, v), polynomial(order.q, v) / far,
          far - (kPi / 4 + order.number * kPi / 2)};
}

Real nearness(const Real& x) {
  const Real near = smaller(x, 8);
  return near * near / 32 - 1;
}

Real j_of(const Order& order, const Real& x) {
  const Real size = abs(x);
  const Wave w = wave(order, size);
  const Real far = w.amplitude * (w.p * cos(w.angle) - w.q * sin(w.angle));
  const Real near = j_near(order, smaller(size, 8), nearness(size));
  // At infinity the angle is none, and PyTorch's answer is NaN.
  const Real y = select(size <= 8, near, far);
  return order.number == 0 ? y : select(x < 0, -y, y);
}

Real y_of(const Order& order, const Real& x) {
  const Wave w = wave(order, x);
  const Real far = w.amplitude * (w.p * sin(w.angle) + w.q * cos(w.angle));
  const Real v = nearness(x), small = smaller(x, 8);
  const Real regular = polynomial(order.near_second, v);
  const Real logarithm = log(small) * j_near(order, small, v) * (2 / kPi);
  const Real near =
      order.number == 0 ? regular + logarithm : small * regular + logarithm - (2 / kPi) / small;
  const Real y = select(x <= 8, near, far);
  const Real ends = select(x == 0, -kInfinity, y);
  return select(x < 0, kNan, ends);
}

Outputs bessel_j0(const Call& call, Emit& onnx) {
  return real_result(call, onnx, j_of(kZero, real_argument(call, onnx)));
}
Outputs bessel_j1(const Call& call, Emit& onnx) {
  return real_result(call, onnx, j_of(kOne, real_argument(call, onnx)));
}
Outputs bessel_y0(const Call& call, Emit& onnx) {
  return real_result(call, onnx, y_of(kZero, real_argument(call, onnx)));
}
Outputs bessel_y1(const Call& call, Emit& onnx) {
  return real_result(call, onnx, y_of(kOne, real_argument(call, onnx)));
}

// sin(x) / x, 1 at 0 and 0 at the infinities.
Outputs spherical_bessel_j0(const Call& call, Emit& onnx) {
  const Real x = real_argument(call, onnx, "x");
  const Real quotient = select(is_infinite(x), 0.0, sin(x) / x);
  return real_result(call, onnx, select(x == 0, 1.0, quotient));
}

// --- modified

std::span<const double> of_order(bool first, std::span<const double> one,
                                 std::span<const double> zero) {
  return first ? one : zero;
}

// exp(-|x|) I(x).
Real i_scaled(const Real& x, bool first) {
  const Real size = abs(x);
  const Real near = smaller(size, 8), far = larger(size, 8);
  const Real low = polynomial(of_order(first, kI1Near, kI0Near), near / 4 - 1);
  const Real high = polynomial(of_order(first, kI1Far, kI0Far), 16 / far - 1) / sqrt(far);
  const Real y = select(size <= 8, first ? near * low : low, high);
  return first ? select(x < 0, -y, y) : y;
}

// In two factors: I reaches a little further than exp. At infinity PyTorch's answer is NaN too, of
// zero times infinity.
Real i_of(const Real& x, bool first) {
  const Real root = exp(abs(x) * 0.5);
  return i_scaled(x, first) * root * root;
}

Outputs i0(const Call& call, Emit& onnx) {
  return real_result(call, onnx, i_of(real_argument(call, onnx), false));
}
Outputs i1(const Call& call, Emit& onnx) {
  return real_result(call, onnx, i_of(real_argument(call, onnx), true));
}
Outputs i0e(const Call& call, Emit& onnx) {
  return real_result(call, onnx, i_scaled(real_argument(call, onnx), false));
}
Outputs i1e(const Call& call, Emit& onnx) {
  return real_result(call, onnx, i_scaled(real_argument(call, onnx), true));
}

Real k_of(const Real& x, bool first, bool scaled) {
  const Real near = smaller(x, 2), far = larger(x, 2);
  const Real v = near * near / 2 - 1;
  const Real logarithm = log(near * 0.5);
  const Real low = first
                       ? polynomial(kK1Near, v) / near + logarithm * near * polynomial(kI1Small, v)
                       : polynomial(kK0Near, v) - logarithm * polynomial(kI0Small, v);
  const Real high = polynomial(of_order(first, kK1Far, kK0Far), 4 / far - 1) / sqrt(far);
  const Real y =
      scaled ? select(x <= 2, low * exp(near), high) : select(x <= 2, low, high * exp(-far));
  const Real ends = select(x == 0, kInfinity, y);
  return select(x < 0, kNan, ends);
}

Outputs k0(const Call& call, Emit& onnx) {
  return real_result(call, onnx, k_of(real_argument(call, onnx, "self"), false, false));
}
Outputs k1(const Call& call, Emit& onnx) {
  return real_result(call, onnx, k_of(real_argument(call, onnx, "self"), true, false));
}
Outputs scaled_k0(const Call& call, Emit& onnx) {
  return real_result(call, onnx, k_of(real_argument(call, onnx, "x"), false, true));
}
Outputs scaled_k1(const Call& call, Emit& onnx) {
  return real_result(call, onnx, k_of(real_argument(call, onnx, "x"), true, true));
}

// --- Airy

Outputs airy_ai(const Call& call, Emit& onnx) {
  const Real x = real_argument(call, onnx, "x");
  const Real size = larger(abs(x), 4);
  const Real root = sqrt(size), z = size * root * (2.0 / 3);
  const Real amplitude = 1 / (std::sqrt(kPi) * sqrt(root));
  const Real above = amplitude * 0.5 * exp(-z) * polynomial(kAiryFar, 32 / (3 * z) - 1);
  const Real inverse = (16.0 / 3) / z, v = 2 * inverse * inverse - 1;
  const Real angle = z + kPi / 4;
  const Real below =
      amplitude * (sin(angle) * polynomial(kAiryF, v) - cos(angle) * polynomial(kAiryG, v) / z);
  const Real near = polynomial(kAiryNear, larger(smaller(x, 4), -4) / 4);
  const Real y = select(x > 4, above, select(x < -4, below, near));
  // PyTorch has no answer at either infinity.
  return real_result(call, onnx, select(is_infinite(x) || is_nan(x), kNan, y));
}

constexpr Row kRows[] = {
    {"aten::i0(Tensor self) -> Tensor", i0},
    {"aten::special_airy_ai(Tensor x) -> Tensor", airy_ai},
    {"aten::special_bessel_j0(Tensor self) -> Tensor", bessel_j0},
    {"aten::special_bessel_j1(Tensor self) -> Tensor", bessel_j1},
    {"aten::special_bessel_y0(Tensor self) -> Tensor", bessel_y0},
    {"aten::special_bessel_y1(Tensor self) -> Tensor", bessel_y1},
    {"aten::special_i0(Tensor self) -> Tensor", i0},
    {"aten::special_i0e(Tensor self) -> Tensor", i0e},
    {"aten::special_i1(Tensor self) -> Tensor", i1},
    {"aten::special_i1e(Tensor self) -> Tensor", i1e},
    {"aten::special_modified_bessel_i0(Tensor self) -> Tensor", i0},
    {"aten::special_modified_bessel_i1(Tensor self) -> Tensor", i1},
    {"aten::special_modified_bessel_k0(Tensor self) -> Tensor", k0},
    {"aten::special_modified_bessel_k1(Tensor self) -> Tensor", k1},
    {"aten::special_scaled_modified_bessel_k0(Tensor x) -> Tensor", scaled_k0},
    {"aten::special_scaled_modified_bessel_k1(Tensor x) -> Tensor", scaled_k1},
    {"aten::special_spherical_bessel_j0(Tensor x) -> Tensor", spherical_bessel_j0},
};

}  // namespace

std::span<const Row> bessel_rows() { return kRows; }

}  // namespace sardonyx::aten
