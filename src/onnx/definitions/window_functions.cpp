// Windows for spectral analysis whose length is computed: sums of cosines. Opset 17.
#include <array>
#include <numbers>

#include "onnx/definitions/signal.h"

namespace sardonyx::onnx {
namespace {

// sum_k weights[k] cos(2 pi k i / n) for i < size, where n is the size, or one less for a window
// that ends as it begins.
Value sum_of_cosines(const Composite& call, std::span<const double> weights) {
  Emit& onnx = call.onnx;
  const Value one = onnx.int_scalar(1), size = onnx.cast(call.input(0), DType::kInt64);
  const Value length = call.integer("periodic", 1) != 0 ? size : onnx.sub(size, one);
  const auto real = [&](Value x) { return onnx.cast(x, DType::kFloat64); };
  const auto number = [&](double x) { return onnx.scalar(x, DType::kFloat64); };
  const Value index = real(onnx.range(onnx.int_scalar(0), size, one));
  const Value turn = onnx.div(onnx.mul(index, number(2 * std::numbers::pi)), real(length));
  Value sum = number(weights.front());
  for (std::size_t k = 1; k < weights.size(); ++k) {
    const Value angle = onnx.mul(turn, number(static_cast<double>(k)));
    sum = onnx.add(onnx.mul(onnx.cos(angle), number(weights[k])), sum);
  }
  return onnx.cast(sum, static_cast<DType>(call.integer("output_datatype", 1)));
}

}  // namespace

Value spelled_out_hann_window(const Composite& call) {
  return sum_of_cosines(call, std::array{0.5, -0.5});
}

Value spelled_out_hamming_window(const Composite& call) {
  return sum_of_cosines(call, std::array{25.0 / 46.0, -21.0 / 46.0});
}

Value spelled_out_blackman_window(const Composite& call) {
  return sum_of_cosines(call, std::array{0.42, -0.5, 0.08});
}

}  // namespace sardonyx::onnx
