// Activations that cut at a threshold or bend at zero: threshold, shrinkage, celu, selu, rrelu.
#include "aten/elementwise/operands.h"
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

Value wide(const Call& call, Emit& onnx, std::string_view name = "self") {
  return operand(call, onnx, name, computing_type(call.result_dtype()));
}

Outputs result(const Call& call, Emit& onnx, Value x) { return {cast_to_result(onnx, call, x)}; }

// Not `greater`: NaN passes.
Outputs threshold(const Call& call, Emit& onnx) {
  const Value x = call.tensor("self");
  const Value limit = scalar_value(onnx, call.scalar("threshold"), x.dtype());
  const Value value = scalar_value(onnx, call.scalar("value"), x.dtype());
  return {onnx.where(onnx.less_or_equal(x, limit), value, x)};
}

Outputs hardshrink(const Call& call, Emit& onnx) {
  const Value x = call.tensor("self");
  const double lambda = call.scalar("lambd").as_double();
  const Value inside = onnx.and_(onnx.greater_or_equal(x, onnx.scalar(-lambda, x.dtype())),
                                 onnx.less_or_equal(x, onnx.scalar(lambda, x.dtype())));
  return {onnx.where(inside, onnx.zero(x.dtype()), x)};
}

Outputs softshrink(const Call& call, Emit& onnx) {
  const Value x = wide(call, onnx);
  const Value lambda = onnx.scalar(call.scalar("lambd").as_double(), x.dtype());
  const Value below = onnx.less(x, onnx.neg(lambda)), above = onnx.greater(x, lambda);
  // Times zero, not zero: NaN passes.
  const Value inside = onnx.mul(x, onnx.zero(x.dtype()));
  const Value low = onnx.where(below, onnx.add(x, lambda), inside);
  return result(call, onnx, onnx.where(above, onnx.sub(x, lambda), low));
}

// x above zero, scale * (exp(x * inner) - 1) below.
Value bent(Emit& onnx, Value x, double scale, double inner) {
  const Value zero = onnx.zero(x.dtype());
  // Where x is large the other branch's infinity is not chosen.
  const Value exponent = onnx.mul(x, onnx.scalar(inner, x.dtype()));
  const Value low = onnx.mul(exp_minus_one(onnx, exponent), onnx.scalar(scale, x.dtype()));
  return onnx.where(onnx.greater(x, zero), x, low);
}

Outputs celu(const Call& call, Emit& onnx) {
  const double alpha = call.scalar("alpha").as_double();
  return result(call, onnx, bent(onnx, wide(call, onnx), alpha, 1 / alpha));
}

// Klambauer et al., Self-Normalizing Neural Networks (2017).
Outputs selu(const Call& call, Emit& onnx) {
  constexpr double kAlpha = 1.6732632423543772848170429916717;
  constexpr double kScale = 1.0507009873554804934193349852946;
  const Value x = wide(call, onnx);
  const Value y = bent(onnx, x, kAlpha, 1);
  return result(call, onnx, onnx.mul(y, onnx.scalar(kScale, x.dtype())));
}

// In training each negative element has a slope of its own, drawn between the bounds.
Outputs rrelu(const Call& call, Emit& onnx) {
  const Value x = wide(call, onnx);
  const double low = call.scalar("lower").as_double(), high = call.scalar("upper").as_double();
  Value slope = onnx.scalar((low + high) / 2, x.dtype());
  if (call.flag("training")) {
    const Value drawn = onnx.random_uniform_like(x, {.dtype = x.dtype(), .high = 1, .low = 0});
    slope =
        onnx.add(onnx.mul(drawn, onnx.scalar(high - low, x.dtype())), onnx.scalar(low, x.dtype()));
  }
  const Value passes = onnx.greater_or_equal(x, onnx.zero(x.dtype()));
  const bool noise = call.captured().schema->find("noise").has_value();
  const Value y = onnx.where(passes, x, onnx.mul(x, slope));
  Outputs outputs = result(call, onnx, y);
  if (!noise) return outputs;
  outputs.push_back(
      call.flag("training")
          ? onnx.cast(onnx.where(passes, onnx.one(x.dtype()), slope), call.result_dtype(1))
          : call.tensor("noise"));
  return outputs;
}

// The second result, exp(-|x|), is kept for the gradient.
Outputs log_sigmoid_forward(const Call& call, Emit& onnx) {
  const Value x = wide(call, onnx);
  const Value tail = onnx.exp(onnx.neg(onnx.abs(x)));
  const Value zero = onnx.zero(x.dtype());
  const Value y = onnx.sub(onnx.min({x, zero}), log_one_plus(onnx, tail));
  return {cast_to_result(onnx, call, y), onnx.cast(tail, call.tensor("self").dtype())};
}

Outputs prelu_kernel(const Call& call, Emit& onnx) {
  const Value x = call.tensor("self");
  const Value scaled = onnx.mul(x, call.tensor("weight"));
  return {onnx.where(onnx.greater(x, onnx.zero(x.dtype())), x, scaled)};
}

constexpr Row kRows[] = {
    {"aten::_prelu_kernel(Tensor self, Tensor weight) -> Tensor", prelu_kernel},
    {"aten::celu(Tensor self, Scalar alpha=1.) -> Tensor", celu},
    {"aten::hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor", hardshrink},
    {"aten::log_sigmoid_forward(Tensor self) -> (Tensor output, Tensor buffer)",
     log_sigmoid_forward},
    {"aten::rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool "
     "training=False, Generator? generator=None) -> Tensor",
     rrelu},
    {"aten::rrelu_with_noise_functional(Tensor self, Tensor noise, Scalar lower=0.125, Scalar "
     "upper=0.33333333333333331, bool training=False, Generator? generator=None) -> (Tensor, "
     "Tensor noise_out)",
     rrelu},
    {"aten::selu(Tensor self) -> Tensor", selu},
    {"aten::softshrink(Tensor self, Scalar lambd=0.5) -> Tensor", softshrink},
    {"aten::threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor", threshold},
};

}  // namespace

std::span<const Row> shrinkage_rows() { return kRows; }

}  // namespace sardonyx::aten
