// Windows for spectral analysis: constants, their length being known.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <span>

#include "aten/families.h"

namespace sardonyx::aten {
namespace {

constexpr double kPi = std::numbers::pi;

// shape(p) for p = i / n, where n is the length, or one less for a window that ends as it begins.
Outputs window(const Call& call, Emit& onnx, const std::function<double(double)>& shape) {
  const std::int64_t length = call.integer("window_length");
  const bool asks = call.captured().schema->find("periodic").has_value();
  const bool periodic = !asks || call.flag("periodic");
  const auto count = static_cast<double>(periodic ? length : length - 1);
  std::vector<double> values;
  for (std::int64_t i = 0; i < length; ++i) {
    values.push_back(length == 1 ? 1 : shape(static_cast<double>(i) / count));
  }
  const Value constant = onnx.constant(onnx::Tensor::of_bytes(
      DType::kFloat64, {length}, std::as_bytes(std::span<const double>(values))));
  return {cast_to_result(onnx, call, constant)};
}

Outputs cosine_window(const Call& call, Emit& onnx, double alpha, double beta) {
  return window(call, onnx, [=](double p) { return alpha - beta * std::cos(2 * kPi * p); });
}

Outputs hann(const Call& call, Emit& onnx) { return cosine_window(call, onnx, 0.5, 0.5); }

Outputs hamming(const Call& call, Emit& onnx) {
  const auto number = [&](std::string_view name, double otherwise) {
    return call.captured().schema->find(name) ? call.number(name) : otherwise;
  };
  return cosine_window(call, onnx, number("alpha", 0.54), number("beta", 0.46));
}

Outputs blackman(const Call& call, Emit& onnx) {
  return window(call, onnx, [](double p) {
    return 0.42 - 0.5 * std::cos(2 * kPi * p) + 0.08 * std::cos(4 * kPi * p);
  });
}

Outputs bartlett(const Call& call, Emit& onnx) {
  return window(call, onnx, [](double p) { return 1 - std::abs(2 * p - 1); });
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
