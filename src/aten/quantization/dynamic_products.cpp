#include "aten/quantization/dynamic_products.h"

namespace sardonyx::aten {
namespace {

// Steps are never smaller, as PyTorch chooses them (SMALL_SCALE_THRESHOLD in its QuantUtils.h).
constexpr float kLeastStep = 6.1e-5F;

struct Steps {
  Value scale;       // float32
  Value zero_point;  // float32, a whole number
};

// Least or most of all elements and 0, in the type in which PyTorch goes on.
Value extreme(Emit& onnx, Value x, bool most) {
  const Value zero = onnx.unsqueeze(onnx.zero(DType::kFloat32), {0});
  // 0 beside them, since the reduction of no element has no value.
  const Value some = onnx.concat({onnx.flatten_to_1d(x), zero}, 0);
  constexpr std::int64_t kAll[] = {0};
  const Value found = onnx.reduce(most ? "ReduceMax" : "ReduceMin", some, kAll, false);
  return onnx.cast(found, DType::kFloat64);
}

Steps steps_of(Emit& onnx, Value x, bool reduce_range) {
  const auto number = [&](double value) { return onnx.scalar(value, DType::kFloat64); };
  const Value least = extreme(onnx, x, false), most = extreme(onnx, x, true);
  const Value exact = onnx.max(
      {onnx.div(onnx.sub(most, least), number(reduce_range ? 127 : 255)), number(kLeastStep)});
  const Value zero_point = onnx.round(onnx.neg(onnx.div(least, exact)));
  return {onnx.cast(exact, DType::kFloat32), onnx.cast(zero_point, DType::kFloat32)};
}

}  // namespace

Value dynamic_product(Emit& onnx, Value x, const QuantizedWeight& packed, bool reduce_range) {
  const Steps steps = steps_of(onnx, x, reduce_range);
  const auto number = [&](double value) { return onnx.scalar(value, DType::kFloat32); };
  // The zero point is added before rounding.
  const Value inverse = onnx.reciprocal(steps.scale);
  const Value whole = onnx.round(onnx.add(onnx.mul(x, inverse), steps.zero_point));
  // Rounded separately, ends of the range may come to one step more.
  const double most = reduce_range ? 128 : 255;
  const Value integers = onnx.cast(onnx.clip(whole, number(0), number(most)), DType::kUInt8);
  const Value product = onnx.matmul_integer(integers, onnx.swap_axes(packed.weight, 0, 1),
                                            onnx.cast(steps.zero_point, DType::kUInt8),
                                            onnx.cast(packed.zero_point, DType::kInt8));
  const Value scale = onnx.mul(steps.scale, onnx.cast(packed.scale, DType::kFloat32));
  const Value result = onnx.mul(onnx.cast(product, DType::kFloat32), scale);
  return packed.bias ? onnx.add(result, packed.bias) : result;
}

}  // namespace sardonyx::aten
