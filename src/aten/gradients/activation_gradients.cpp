// Gradients of activations and softmaxes.
#include <cmath>
#include <numbers>

#include "aten/elementwise/operands.h"
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

// Steps of a formula in a type wide enough for them.
struct Formula {
  Emit& onnx;
  DType dtype;

  Value number(double value) const { return onnx.scalar(value, dtype); }
  Value scaled(Value x, double by) const { return onnx.mul(x, number(by)); }
  Value plus(Value x, double addend) const { return onnx.add(x, number(addend)); }
  Value one_less(Value x) const { return onnx.sub(number(1), x); }  // 1 - x
  Value square(Value x) const { return onnx.mul(x, x); }
};

DType wide_type(const Call& call) { return computing_type(call.result_dtype()); }

Value wide(const Call& call, Emit& onnx, std::string_view name) {
  return onnx.cast(call.tensor(name), wide_type(call));
}

// The gradient times the derivative that `derive` gives of the argument `of`.
template <class Derive>
Outputs chained(const Call& call, Emit& onnx, std::string_view of, const Derive& derive) {
  const Formula f{onnx, wide_type(call)};
  const Value derivative = derive(f, wide(call, onnx, of));
  const Value gradient = onnx.mul(wide(call, onnx, "grad_output"), derivative);
  return {cast_to_result(onnx, call, gradient)};
}

Outputs tanh_backward(const Call& call, Emit& onnx) {
  return chained(call, onnx, "output",
                 [](const Formula& f, Value y) { return f.one_less(f.square(y)); });
}

Outputs sigmoid_backward(const Call& call, Emit& onnx) {
  return chained(call, onnx, "output",
                 [](const Formula& f, Value y) { return f.onnx.mul(y, f.one_less(y)); });
}

// s (1 + x (1 - s)) with s = sigmoid(x).
Outputs silu_backward(const Call& call, Emit& onnx) {
  return chained(call, onnx, "self", [](const Formula& f, Value x) {
    const Value s = f.onnx.sigmoid(x);
    return f.onnx.mul(s, f.plus(f.onnx.mul(x, f.one_less(s)), 1));
  });
}

// t + x s (1 - t^2) with t = tanh(softplus(x)), s = sigmoid(x).
Outputs mish_backward(const Call& call, Emit& onnx) {
  return chained(call, onnx, "self", [](const Formula& f, Value x) {
    const Value tail = log_one_plus(f.onnx, f.onnx.exp(f.onnx.neg(f.onnx.abs(x))));
    const Value t = f.onnx.tanh(f.onnx.add(f.onnx.relu(x), tail));
    const Value slope = f.onnx.mul(f.onnx.sigmoid(x), f.one_less(f.square(t)));
    return f.onnx.add(t, f.onnx.mul(x, slope));
  });
}

// sigmoid(beta x), and 1 above the threshold, from where on PyTorch's softplus is x itself.
Outputs softplus_backward(const Call& call, Emit& onnx) {
  const double beta = call.scalar("beta").as_double();
  const double threshold = call.scalar("threshold").as_double();
  return chained(call, onnx, "self", [&](const Formula& f, Value x) {
    const Value steep = f.scaled(x, beta);
    const Value linear = f.onnx.greater(steep, f.number(threshold));
    return f.onnx.where(linear, f.number(1), f.onnx.sigmoid(steep));
  });
}

// The normal distribution's share below x, and x times its density.
Value gelu_slope(const Formula& f, Value x) {
  const Value below = f.scaled(f.plus(f.onnx.erf(f.scaled(x, 1 / std::numbers::sqrt2)), 1), 0.5);
  const Value bell = f.onnx.exp(f.scaled(f.square(x), -0.5));
  const double height = std::numbers::inv_sqrtpi / std::numbers::sqrt2;
  return f.onnx.add(below, f.onnx.mul(x, f.scaled(bell, height)));
}

// Of x / 2 (1 + tanh(b (x + k x^3))).
Value gelu_tanh_slope(const Formula& f, Value x) {
  const double b = std::sqrt(2 / std::numbers::pi), k = 0.044715;
  const Value square = f.square(x);
  const Value inner = f.onnx.mul(f.scaled(x, b), f.plus(f.scaled(square, k), 1));
  const Value t = f.onnx.tanh(inner);
  const Value inner_slope = f.scaled(f.plus(f.scaled(square, 3 * k), 1), b);
  const Value bend = f.onnx.mul(f.onnx.mul(x, f.one_less(f.square(t))), inner_slope);
  return f.scaled(f.onnx.add(f.plus(t, 1), bend), 0.5);
}

Outputs gelu_backward(const Call& call, Emit& onnx) {
  const bool by_tanh = call.text("approximate") == "tanh";
  return chained(call, onnx, "self", by_tanh ? gelu_tanh_slope : gelu_slope);
}

// The gradient, or zero where the condition holds: an infinite gradient times 0 would be NaN.
Outputs zero_where(const Call& call, Emit& onnx, std::string_view grad, Value condition) {
  const Value given = onnx.cast(call.tensor(grad), call.result_dtype());
  return {onnx.where(condition, onnx.zero(call.result_dtype()), given)};
}

Value limit(const Call& call, Emit& onnx, std::string_view name) {
  return scalar_value(onnx, call.scalar(name), call.tensor("self").dtype());
}

Outputs threshold_backward(const Call& call, Emit& onnx) {
  const Value low = onnx.less_or_equal(call.tensor("self"), limit(call, onnx, "threshold"));
  return zero_where(call, onnx, "grad_output", low);
}

Outputs hardtanh_backward(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const Value low = onnx.less_or_equal(self, limit(call, onnx, "min_val"));
  const Value high = onnx.greater_or_equal(self, limit(call, onnx, "max_val"));
  return zero_where(call, onnx, "grad_output", onnx.or_(low, high));
}

// Within [-lambd, lambd] shrinking gives zero.
Outputs shrink_backward(const Call& call, Emit& onnx, std::string_view grad) {
  const Value self = call.tensor("self"), reach = limit(call, onnx, "lambd");
  const Value within =
      onnx.and_(onnx.greater_or_equal(self, onnx.neg(reach)), onnx.less_or_equal(self, reach));
  return zero_where(call, onnx, grad, within);
}

Outputs softshrink_backward(const Call& call, Emit& onnx) {
  return shrink_backward(call, onnx, "grad_output");
}

Outputs hardshrink_backward(const Call& call, Emit& onnx) {
  return shrink_backward(call, onnx, "grad_out");
}

Outputs leaky_relu_backward(const Call& call, Emit& onnx) {
  const Value grad = wide(call, onnx, "grad_output"), self = wide(call, onnx, "self");
  const Value slope = scalar_value(onnx, call.scalar("negative_slope"), grad.dtype());
  const Value positive = onnx.greater(self, onnx.zero(self.dtype()));
  return {cast_to_result(onnx, call, onnx.where(positive, grad, onnx.mul(grad, slope)))};
}

// Of scale * x above zero, scale * alpha * (exp(input_scale * x) - 1) below. Of the result y there:
// input_scale * (y + scale * alpha).
Outputs elu_backward(const Call& call, Emit& onnx) {
  const Value grad = wide(call, onnx, "grad_output"), of = wide(call, onnx, "self_or_result");
  const double scale = call.scalar("scale").as_double();
  const double lowest = scale * call.scalar("alpha").as_double();
  const double inside = call.scalar("input_scale").as_double();
  const Formula f{onnx, grad.dtype()};
  const Value below = call.flag("is_result")
                          ? f.scaled(f.plus(of, lowest), inside)
                          : f.scaled(onnx.exp(f.scaled(of, inside)), inside * lowest);
  const Value slope = onnx.where(onnx.less_or_equal(of, f.number(0)), below, f.number(scale));
  return {cast_to_result(onnx, call, onnx.mul(grad, slope))};
}

// a sigmoid(b) of the halves a and b.
Outputs glu_backward(const Call& call, Emit& onnx) {
  const Formula f{onnx, wide_type(call)};
  const Value grad = wide(call, onnx, "grad_output"), self = wide(call, onnx, "self");
  const std::int64_t axis = call.axis("dim", self.rank());
  const Expr half = grad.dim(axis);
  const Value a = onnx.slice(self, axis, 0, half);
  const Value s = onnx.sigmoid(onnx.slice(self, axis, half, self.dim(axis)));
  const Value to_a = onnx.mul(grad, s);
  const Value to_b = onnx.mul(onnx.mul(to_a, f.one_less(s)), a);
  return {cast_to_result(onnx, call, onnx.concat({to_a, to_b}, axis))};
}

Value sum_along(Emit& onnx, Value x, std::int64_t axis) {
  const std::vector<std::int64_t> axes = {axis};
  return x.rank() == 0 ? x : onnx.reduce("ReduceSum", x, axes, true);
}

Outputs softmax_backward(const Call& call, Emit& onnx) {
  const Value y = wide(call, onnx, "output");
  const Value product = onnx.mul(wide(call, onnx, "grad_output"), y);
  const Value sum = sum_along(onnx, product, call.axis("dim", y.rank()));
  return {cast_to_result(onnx, call, onnx.sub(product, onnx.mul(y, sum)))};
}

Outputs log_softmax_backward(const Call& call, Emit& onnx) {
  const Value y = wide(call, onnx, "output"), grad = wide(call, onnx, "grad_output");
  const Value sum = sum_along(onnx, grad, call.axis("dim", y.rank()));
  return {cast_to_result(onnx, call, onnx.sub(grad, onnx.mul(onnx.exp(y), sum)))};
}

constexpr Row kRows[] = {
    {"aten::_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType "
     "input_dtype) -> Tensor",
     log_softmax_backward},
    {"aten::_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType "
     "input_dtype) -> Tensor",
     softmax_backward},
    {"aten::elu_backward(Tensor grad_output, Scalar alpha, Scalar scale, Scalar input_scale, bool "
     "is_result, Tensor self_or_result) -> Tensor",
     elu_backward},
    {"aten::gelu_backward(Tensor grad_output, Tensor self, *, str approximate=\"none\") -> Tensor",
     gelu_backward},
    {"aten::glu_backward(Tensor grad_output, Tensor self, int dim) -> Tensor", glu_backward},
    {"aten::hardshrink_backward(Tensor grad_out, Tensor self, Scalar lambd) -> Tensor",
     hardshrink_backward},
    {"aten::hardtanh_backward(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val) -> "
     "Tensor",
     hardtanh_backward},
    {"aten::leaky_relu_backward(Tensor grad_output, Tensor self, Scalar negative_slope, bool "
     "self_is_result) -> Tensor",
     leaky_relu_backward},
    {"aten::mish_backward(Tensor grad_output, Tensor self) -> Tensor", mish_backward},
    {"aten::sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor", sigmoid_backward},
    {"aten::silu_backward(Tensor grad_output, Tensor self) -> Tensor", silu_backward},
    {"aten::softplus_backward(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold) -> "
     "Tensor",
     softplus_backward},
    {"aten::softshrink_backward(Tensor grad_output, Tensor self, Scalar lambd) -> Tensor",
     softshrink_backward},
    {"aten::tanh_backward(Tensor grad_output, Tensor output) -> Tensor", tanh_backward},
    {"aten::threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor",
     threshold_backward},
};

}  // namespace

std::span<const Row> activation_gradient_rows() { return kRows; }

}  // namespace sardonyx::aten
