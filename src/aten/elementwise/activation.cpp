// Activation functions.
#include <cmath>
#include <numbers>

#include "aten/elementwise/long_integers.h"
#include "aten/elementwise/operands.h"
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

Outputs relu(const Call& call, Emit& onnx) {
  const Value x = call.tensor("self");
  if (x.dtype() == DType::kInt64) return {larger_of(onnx, x, onnx.int_scalar(0))};
  return {onnx.relu(x)};
}

Outputs sigmoid(const Call& call, Emit& onnx) {
  // Integers become floating first.
  return {onnx.sigmoid(cast_to_result(onnx, call, call.tensor("self")))};
}

Outputs tanh(const Call& call, Emit& onnx) {
  return {onnx.tanh(cast_to_result(onnx, call, call.tensor("self")))};
}

Value self_in_result_type(const Call& call, Emit& onnx) {
  return cast_to_result(onnx, call, call.tensor("self"));
}

Outputs silu(const Call& call, Emit& onnx) {
  const Value x = self_in_result_type(call, onnx);
  return {onnx.swish(x)};
}

bool tanh_form(const Call& call) { return call.text("approximate") == "tanh"; }

Outputs gelu(const Call& call, Emit& onnx) {
  return {onnx.gelu(call.tensor("self"), {.approximate = tanh_form(call) ? "tanh" : "none"})};
}

Value number(Emit& onnx, Value like, double value) { return onnx.scalar(value, like.dtype()); }

// log(1 + exp(x)) without overflow: max(x, 0) + log(1 + exp(-|x|)).
Value soft_plus(Emit& onnx, Value x) {
  const Value tail = onnx.log(onnx.add(onnx.exp(onnx.neg(onnx.abs(x))), number(onnx, x, 1)));
  return onnx.add(onnx.relu(x), tail);
}

// Linear above the threshold, as PyTorch is.
Outputs softplus(const Call& call, Emit& onnx) {
  const Value x = operand(call, onnx, "self", computing_type(call.result_dtype()));
  const Scalar beta = call.scalar("beta");
  const Value scale = scalar_value(onnx, beta, x.dtype());
  const Value scaled = beta.is(1) ? x : onnx.mul(x, scale);
  Value smooth = soft_plus(onnx, scaled);
  if (!beta.is(1)) smooth = onnx.div(smooth, scale);
  const Value threshold = scalar_value(onnx, call.scalar("threshold"), x.dtype());
  return {cast_to_result(onnx, call, onnx.where(onnx.greater(scaled, threshold), x, smooth))};
}

Outputs log_sigmoid(const Call& call, Emit& onnx) {
  const Value x = operand(call, onnx, "self", computing_type(call.result_dtype()));
  return {cast_to_result(onnx, call, onnx.neg(soft_plus(onnx, onnx.neg(x))))};
}

Outputs mish(const Call& call, Emit& onnx) {
  const Value x = operand(call, onnx, "self", computing_type(call.result_dtype()));
  return {cast_to_result(onnx, call, onnx.mul(x, onnx.tanh(soft_plus(onnx, x))))};
}

Value held_between(Emit& onnx, Value x, Value low, Value high) {
  if (x.dtype() == DType::kInt64) return smaller_of(onnx, larger_of(onnx, x, low), high);
  return onnx.clip(x, low, high);
}

Outputs hardtanh(const Call& call, Emit& onnx) {
  const Value x = call.tensor("self");
  return {held_between(onnx, x, scalar_value(onnx, call.scalar("min_val"), x.dtype()),
                       scalar_value(onnx, call.scalar("max_val"), x.dtype()))};
}

Outputs relu6(const Call& call, Emit& onnx) {
  const Value x = call.tensor("self");
  return {held_between(onnx, x, onnx.scalar(0, x.dtype()), onnx.scalar(6, x.dtype()))};
}

// clip(x + 3, 0, 6) / 6. The operator's factors are float32.
Value hard_sigmoid(Emit& onnx, Value x) {
  if (x.dtype() != DType::kFloat64)
    return onnx.hard_sigmoid(x, {.alpha = 1.0F / 6.0F, .beta = 0.5F});
  const Value shifted = onnx.add(x, number(onnx, x, 3));
  return onnx.div(onnx.clip(shifted, number(onnx, x, 0), number(onnx, x, 6)), number(onnx, x, 6));
}

Outputs hardsigmoid(const Call& call, Emit& onnx) {
  return {hard_sigmoid(onnx, call.tensor("self"))};
}

Outputs hardswish(const Call& call, Emit& onnx) { return {onnx.hard_swish(call.tensor("self"))}; }

Outputs leaky_relu(const Call& call, Emit& onnx) {
  return {onnx.leaky_relu(call.tensor("self"), {.alpha = call.scalar("negative_slope").f32()})};
}

// scale * (x > 0 ? x : alpha * (exp(input_scale * x) - 1))
Outputs elu(const Call& call, Emit& onnx) {
  const Value x = call.tensor("self");
  const Scalar alpha = call.scalar("alpha"), scale = call.scalar("scale");
  const Scalar input_scale = call.scalar("input_scale");
  if (scale.is(1) && input_scale.is(1)) return {onnx.elu(x, {.alpha = alpha.f32()})};
  const auto factor = [&](const Scalar& s) { return scalar_value(onnx, s, x.dtype()); };
  const Value below = onnx.mul(
      onnx.sub(onnx.exp(onnx.mul(x, factor(input_scale))), number(onnx, x, 1)), factor(alpha));
  const Value joined = onnx.where(onnx.greater(x, number(onnx, x, 0)), x, below);
  return {onnx.mul(joined, factor(scale))};
}

// A slope for each channel, or one for all.
Outputs prelu(const Call& call, Emit& onnx) {
  const Value x = call.tensor("self");
  Value slope = call.tensor("weight");
  if (slope.rank() == 1 && x.rank() > 2) {
    std::vector<std::int64_t> axes;
    for (std::int64_t axis = 1; axis < x.rank() - 1; ++axis) axes.push_back(axis);
    slope = onnx.unsqueeze(slope, axes);
  }
  // One slope of one dimension would give a number that dimension.
  if (x.rank() == 0 && slope.rank() == 1) slope = onnx.squeeze(slope, {0});
  return {onnx.prelu(x, slope)};
}

// The first half of an axis, gated by the second.
Outputs glu(const Call& call, Emit& onnx) {
  const Value x = call.tensor("self");
  const std::int64_t axis = call.axis("dim", x.rank());
  const Expr half = symbolic::floor_div(x.dim(axis), 2);
  const Value gate = onnx.slice(x, axis, half, x.dim(axis));
  return {onnx.mul(onnx.slice(x, axis, 0, half), onnx.sigmoid(gate))};
}

constexpr Row kRows[] = {
    {"aten::special_expit(Tensor self) -> Tensor", sigmoid},
    {"aten::elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor", elu},
    {"aten::gelu(Tensor self, *, str approximate=\"none\") -> Tensor", gelu},
    {"aten::glu(Tensor self, int dim=-1) -> Tensor", glu},
    {"aten::hardsigmoid(Tensor self) -> Tensor", hardsigmoid},
    {"aten::hardswish(Tensor self) -> Tensor", hardswish},
    {"aten::hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor", hardtanh},
    {"aten::leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor", leaky_relu},
    {"aten::log_sigmoid(Tensor self) -> Tensor", log_sigmoid},
    {"aten::mish(Tensor self) -> Tensor", mish},
    {"aten::prelu(Tensor self, Tensor weight) -> Tensor", prelu},
    {"aten::relu(Tensor self) -> Tensor", relu},
    {"aten::relu6(Tensor self) -> Tensor", relu6},
    {"aten::sigmoid(Tensor self) -> Tensor", sigmoid},
    {"aten::silu(Tensor self) -> Tensor", silu},
    {"aten::softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor", softplus},
    {"aten::tanh(Tensor self) -> Tensor", tanh},
};

}  // namespace

std::span<const Row> activation_rows() { return kRows; }

}  // namespace sardonyx::aten
