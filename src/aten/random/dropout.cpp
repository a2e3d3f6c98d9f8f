// Dropout of elements or of whole channels. In evaluation it does nothing; in training the draws
// are the runtime's own.
#include "aten/random/dropout.h"

#include <cmath>

#include "aten/families.h"

namespace sardonyx::aten {
namespace {

// What each element of x is multiplied by, and with alpha dropout what is added then; drawn for
// elements or, with this shape, for channels.
struct Noise {
  Value factor, addend;
};

Noise scaling_noise(Emit& onnx, std::span<const Expr> shape, double p, DType dtype) {
  const Value kept = kept_at_random(onnx, shape, p);
  return {onnx.where(kept, onnx.scalar(1 / (1 - p), dtype), onnx.zero(dtype)), {}};
}

// Dropped elements become the least that SELU gives, and all are moved to keep mean and variance
// (Klambauer et al., Self-Normalizing Neural Networks, 2017).
Noise alpha_noise(Emit& onnx, std::span<const Expr> shape, double p, DType dtype) {
  constexpr double kAlpha = 1.7580993408473766;
  const double a = 1 / std::sqrt((kAlpha * kAlpha * p + 1) * (1 - p));
  const double shift = kAlpha * a * p;
  const Value kept = kept_at_random(onnx, shape, p);
  return {onnx.where(kept, onnx.scalar(a, dtype), onnx.zero(dtype)),
          onnx.where(kept, onnx.scalar(shift, dtype), onnx.scalar(shift - kAlpha * a, dtype))};
}

bool drops(const Call& call, Value x) {
  const bool empty = symbolic::product(x.shape()).is(0);
  return call.flag("train") && call.number("p") != 0 && !empty;
}

// The product, not a choice, also where all is dropped: what is infinite becomes NaN.
Value noisy(const Call& call, Emit& onnx, Value x, std::span<const Expr> shape, bool alpha) {
  const double p = call.number("p");
  if (p == 1) return onnx.mul(x, onnx.zero(x.dtype()));
  const Noise noise =
      alpha ? alpha_noise(onnx, shape, p, x.dtype()) : scaling_noise(onnx, shape, p, x.dtype());
  const Value product = onnx.mul(x, noise.factor);
  return noise.addend ? onnx.add(product, noise.addend) : product;
}

Outputs of_elements(const Call& call, Emit& onnx, bool alpha) {
  const Value x = call.tensor("input");
  if (!drops(call, x)) return {x};
  return {noisy(call, onnx, x, x.shape(), alpha)};
}

// Of x [N, C, ...] with one draw for each channel of each sample.
Outputs of_channels(const Call& call, Emit& onnx, bool alpha) {
  const Value x = call.tensor("input");
  if (!drops(call, x)) return {x};
  Shape shape(x.shape().size(), 1);
  for (std::size_t axis = 0; axis < 2; ++axis) shape.at(axis) = x.shape().at(axis);
  return {noisy(call, onnx, x, shape, alpha)};
}

Outputs dropout(const Call& call, Emit& onnx) { return of_elements(call, onnx, false); }
Outputs alpha_dropout(const Call& call, Emit& onnx) { return of_elements(call, onnx, true); }
Outputs feature_dropout(const Call& call, Emit& onnx) { return of_channels(call, onnx, false); }
Outputs feature_alpha_dropout(const Call& call, Emit& onnx) {
  return of_channels(call, onnx, true);
}

// Also returns which elements were kept. Without a word on training it is at work.
Outputs native_dropout(const Call& call, Emit& onnx) {
  const Value x = call.tensor("input");
  const double p = call.optional_flag("train").value_or(true) ? call.number("p") : 0;
  if (p == 0) return {x, onnx.full(x.shape(), onnx.bool_scalar(true))};
  const Value kept = kept_at_random(onnx, x.shape(), p);
  const double scale = p == 1 ? 0 : 1 / (1 - p);
  const Value factor = onnx.where(kept, onnx.scalar(scale, x.dtype()), onnx.zero(x.dtype()));
  return {onnx.mul(x, factor), kept};
}

Outputs native_dropout_backward(const Call& call, Emit& onnx) {
  const Value gradient = cast_to_result(onnx, call, call.tensor("grad_output"));
  const Value kept = onnx.cast(call.tensor("mask"), gradient.dtype());
  const Value scale = onnx.scalar(call.number("scale"), gradient.dtype());
  return {onnx.mul(onnx.mul(gradient, kept), scale)};
}

constexpr Row kRows[] = {
    {"aten::alpha_dropout(Tensor input, float p, bool train) -> Tensor", alpha_dropout},
    {"aten::dropout(Tensor input, float p, bool train) -> Tensor", dropout},
    {"aten::feature_alpha_dropout(Tensor input, float p, bool train) -> Tensor",
     feature_alpha_dropout},
    {"aten::feature_dropout(Tensor input, float p, bool train) -> Tensor", feature_dropout},
    {"aten::native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)",
     native_dropout},
    {"aten::native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> Tensor",
     native_dropout_backward},
};

}  // namespace

Value kept_at_random(Emit& onnx, std::span<const Expr> shape, double p) {
  const DType dtype = DType::kFloat32;
  const Value carrier = onnx.full(shape, onnx.zero(dtype));
  const Value drawn = onnx.random_uniform_like(carrier, {.dtype = dtype, .high = 1, .low = 0});
  return onnx.greater_or_equal(drawn, onnx.scalar(p, dtype));
}

Value dropped(Emit& onnx, Value x, double p) {
  if (p == 0) return x;
  if (p == 1) return onnx.mul(x, onnx.zero(x.dtype()));
  return onnx.mul(x, scaling_noise(onnx, x.shape(), p, x.dtype()).factor);
}

std::span<const Row> dropout_rows() { return kRows; }

}  // namespace sardonyx::aten
