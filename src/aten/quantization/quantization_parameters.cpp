// Scales and zero points chosen from the data: quantized_decomposed::choose_qparams and relatives.
#include <limits>

#include "aten/elementwise/operands.h"
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

Value number(Emit& onnx, Value like, double value) { return onnx.scalar(value, like.dtype()); }

// The least and largest element over the axes, zero included.
struct Extremes {
  Value least, most;
};

Extremes extremes(Emit& onnx, Value x, std::span<const std::int64_t> axes) {
  const Value zero = onnx.zero(x.dtype());
  return {onnx.min({onnx.reduce("ReduceMin", x, axes, true), zero}),
          onnx.max({onnx.reduce("ReduceMax", x, axes, true), zero})};
}

std::vector<std::int64_t> all_axes(Value x) {
  std::vector<std::int64_t> axes;
  for (std::int64_t axis = 0; axis < x.rank(); ++axis) axes.push_back(axis);
  return axes;
}

// One scale, one zero point, each of shape [1].
Outputs finished(const Call& call, Emit& onnx, Value scale, Value zero_point) {
  return {onnx.reshape(onnx.cast(scale, call.result_dtype(0)), call.result_shape(0)),
          onnx.reshape(onnx.cast(zero_point, call.result_dtype(1)), call.result_shape(1))};
}

Outputs choose_qparams(const Call& call, Emit& onnx) {
  const Value x = onnx.cast(call.tensor("input"), DType::kFloat32);
  const auto least = call.number("quant_min"), most = call.number("quant_max");
  const auto [low, high] = extremes(onnx, x, all_axes(x));
  const Value spread = onnx.div(onnx.sub(high, low), number(onnx, x, most - least));
  const Value scale = onnx.max({spread, number(onnx, x, call.number("eps"))});
  const Value steps = onnx.round(onnx.div(low, scale));
  const Value zero = onnx.clip(onnx.sub(number(onnx, x, least), steps), number(onnx, x, least),
                               number(onnx, x, most));
  return finished(call, onnx, scale, zero);
}

Outputs choose_qparams_symmetric(const Call& call, Emit& onnx) {
  const Value x = onnx.cast(call.tensor("input"), DType::kFloat32);
  const double half = (call.number("quant_max") - call.number("quant_min")) / 2;
  const auto [low, high] = extremes(onnx, x, all_axes(x));
  const Value reach = onnx.div(onnx.max({onnx.neg(low), high}), number(onnx, x, half));
  const Value scale = onnx.max({reach, number(onnx, x, call.number("eps"))});
  const bool is_unsigned = call.dtype("dtype") == DType::kUInt8;
  return finished(call, onnx, scale,
                  onnx.expand(number(onnx, x, is_unsigned ? 128 : 0), scale.shape()));
}

constexpr std::int64_t kLastAxis[] = {-1};

// int8, symmetric, a scale for each row.
Outputs choose_qparams_per_token(const Call& call, Emit& onnx) {
  const Value x = onnx.cast(call.tensor("input"), computing_type(call.tensor("input").dtype()));
  const Value reach = onnx.reduce("ReduceMax", onnx.abs(x), kLastAxis, true);
  const Value scale = onnx.div(onnx.max({reach, number(onnx, x, 1e-5)}), number(onnx, x, 127));
  return finished(call, onnx, scale, onnx.expand(onnx.zero(x.dtype()), scale.shape()));
}

// int8; of the two zero points that put the least or the largest element right, the one whose
// error is smaller.
Outputs choose_qparams_per_token_asymmetric(const Call& call, Emit& onnx) {
  const Value x = onnx.cast(call.tensor("input"), computing_type(call.tensor("input").dtype()));
  constexpr double kLeast = -128, kMax = 127;
  const auto [low, high] = extremes(onnx, x, kLastAxis);
  const Value spread = onnx.div(onnx.sub(high, low), number(onnx, x, kMax - kLeast));
  const double eps = std::numeric_limits<float>::epsilon();
  const Value scale = onnx.max({spread, number(onnx, x, eps)});
  const Value least = number(onnx, x, kLeast), most = number(onnx, x, kMax);
  const Value from_low = onnx.div(low, scale), from_high = onnx.div(high, scale);
  const Value errors = onnx.add(onnx.add(least, from_low), onnx.add(most, from_high));
  const Value zero = onnx.where(onnx.greater(errors, number(onnx, x, 0)), onnx.sub(least, from_low),
                                onnx.sub(most, from_high));
  return finished(call, onnx, scale, onnx.round(onnx.clip(zero, least, most)));
}

constexpr Row kRows[] = {
    {"quantized_decomposed::_choose_qparams_per_token_asymmetric_impl(Tensor input, ScalarType "
     "dtype) -> (Tensor, Tensor)",
     choose_qparams_per_token_asymmetric},
    {"quantized_decomposed::choose_qparams.tensor(Tensor input, int quant_min, int quant_max, "
     "float eps, ScalarType dtype) -> (Tensor, Tensor)",
     choose_qparams},
    {"quantized_decomposed::choose_qparams_per_token(Tensor input, ScalarType dtype) -> (Tensor, "
     "Tensor)",
     choose_qparams_per_token},
    {"quantized_decomposed::choose_qparams_per_token_asymmetric(Tensor input, ScalarType dtype) -> "
     "(Tensor, Tensor)",
     choose_qparams_per_token_asymmetric},
    {"quantized_decomposed::choose_qparams_symmetric.tensor(Tensor input, int quant_min, int "
     "quant_max, float eps, ScalarType dtype) -> (Tensor, Tensor)",
     choose_qparams_symmetric},
};

}  // namespace

std::span<const Row> quantization_parameters_rows() { return kRows; }

}  // namespace sardonyx::aten
