// Windows for spectral analysis: constants where their length is known.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <span>

#include "aten/families.h"

namespace sardonyx::aten {
namespace {

constexpr double kPi = std::numbers::pi;

bool is_periodic(const Call& call) {
  const bool asks = call.captured().schema->find("periodic").has_value();
  return !asks || call.flag("periodic");
}

// shape(p) for p = i / n, where n is the length, or one less for a window that ends as it begins.
Outputs window(const Call& call, Emit& onnx, const std::function<double(double)>& shape) {
  const std::int64_t length = call.integer("window_length");
  const bool periodic = is_periodic(call);
  const auto count = static_cast<double>(periodic ? length : length - 1);
  std::vector<double> values;
  for (std::int64_t i = 0; i < length; ++i) {
    values.push_back(length == 1 ? 1 : shape(static_cast<double>(i) / count));
  }
  const Value constant = onnx.constant(onnx::Tensor::of_bytes(
      DType::kFloat64, {length}, std::as_bytes(std::span<const double>(values))));
  return {cast_to_result(onnx, call, constant)};
}

// The same for a dynamic length, in float64. A window of one element is 1.
Outputs computed_window(const Call& call, Emit& onnx, const std::function<Value(Value)>& shape) {
  constexpr DType kReal = DType::kFloat64;
  const Expr length = call.size("window_length");
  Value count = onnx.size(length);
  const Value is_one = onnx.equal(count, onnx.int_scalar(1));
  if (!is_periodic(call)) count = onnx.sub(count, onnx.int_scalar(1));
  const Value divisor = onnx.where(is_one, onnx.int_scalar(1), count);
  const Value places = onnx.cast(onnx.range(length), kReal);
  const Value made = shape(onnx.div(places, onnx.cast(divisor, kReal)));
  return {cast_to_result(onnx, call, onnx.where(is_one, onnx.one(kReal), made))};
}

bool has_known_length(const Call& call) { return call.size("window_length").is_constant(); }

// alpha - beta cos(2 pi p) + gamma cos(4 pi p)
Outputs cosine_window(const Call& call, Emit& onnx, double alpha, double beta, double gamma = 0) {
  if (has_known_length(call)) {
    return window(call, onnx, [=](double p) {
      return alpha - beta * std::cos(2 * kPi * p) + gamma * std::cos(4 * kPi * p);
    });
  }
  return computed_window(call, onnx, [&](Value p) {
    const auto number = [&](double value) { return onnx.scalar_like(value, p); };
    const auto wave = [&](double factor, double turns) {
      return onnx.mul(number(factor), onnx.cos(onnx.mul(p, number(turns * kPi))));
    };
    const Value made = onnx.sub(number(alpha), wave(beta, 2));
    return gamma == 0 ? made : onnx.add(made, wave(gamma, 4));
  });
}

Outputs hann(const Call& call, Emit& onnx) { return cosine_window(call, onnx, 0.5, 0.5); }

Outputs hamming(const Call& call, Emit& onnx) {
  const auto number = [&](std::string_view name, double otherwise) {
    return call.captured().schema->find(name) ? call.number(name) : otherwise;
  };
  return cosine_window(call, onnx, number("alpha", 0.54), number("beta", 0.46));
}

Outputs blackman(const Call& call, Emit& onnx) {
  return cosine_window(call, onnx, 0.42, 0.5, 0.08);
}

Outputs bartlett(const Call& call, Emit& onnx) {
  if (has_known_length(call))
    return window(call, onnx, [](double p) { return 1 - std::abs(2 * p - 1); });
  return computed_window(call, onnx, [&](Value p) {
    const Value one = onnx.one(p.dtype());
    return onnx.sub(one, onnx.abs(onnx.sub(onnx.mul(p, onnx.scalar_like(2, p)), one)));
  });
}

// The modified Bessel function of order 0, by its series: libc++ has no std::cyl_bessel_i.
double bessel_i0(double x) {
  double sum = 1, term = 1;
  for (int k = 1; term > sum * 1e-17; ++k) {
    term *= x / (2.0 * k) * (x / (2.0 * k));
    sum += term;
  }
  return sum;
}

// I0(beta sqrt(1 - (2p - 1)^2)) / I0(beta)
Outputs kaiser(const Call& call, Emit& onnx) {
  const double beta = call.captured().schema->find("beta") ? call.number("beta") : 12.0;
  const double top = bessel_i0(beta);
  return window(call, onnx, [=](double p) {
    const double inside = std::max(0.0, 1 - (2 * p - 1) * (2 * p - 1));
    return bessel_i0(beta * std::sqrt(inside)) / top;
  });
}

constexpr Row kRows[] = {
    {"aten::bartlett_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None) -> Tensor",
     bartlett},
    {"aten::bartlett_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, "
     "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     bartlett},
    {"aten::blackman_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None) -> Tensor",
     blackman},
    {"aten::blackman_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, "
     "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     blackman},
    {"aten::hamming_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None) -> Tensor",
     hamming},
    {"aten::hamming_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, "
     "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     hamming},
    {"aten::hamming_window.periodic_alpha(int window_length, bool periodic, float alpha, *, "
     "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
     "Tensor",
     hamming},
    {"aten::hamming_window.periodic_alpha_beta(int window_length, bool periodic, float alpha, "
     "float beta, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
     "pin_memory=None) -> Tensor",
     hamming},
    {"aten::hann_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None) -> Tensor",
     hann},
    {"aten::hann_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, "
     "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     hann},
    {"aten::kaiser_window(int window_length, *, ScalarType? dtype=None, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None) -> Tensor",
     kaiser},
    {"aten::kaiser_window.beta(int window_length, bool periodic, float beta, *, ScalarType? "
     "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     kaiser},
    {"aten::kaiser_window.periodic(int window_length, bool periodic, *, ScalarType? dtype=None, "
     "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     kaiser},
};

}  // namespace

std::span<const Row> window_functions_rows() { return kRows; }

}  // namespace sardonyx::aten
