// Matrix products and their affine forms.
#include <array>

#include "aten/families.h"

namespace sardonyx::aten {
namespace {

Value scaled(Emit& onnx, Value x, const Scalar& factor) {
  if (factor.is(1)) return x;
  return onnx.mul(x, scalar_value(onnx, factor, x.dtype()));
}

// beta * self + alpha * product, for every operator of the addmm kind.
Value affine(Emit& onnx, const Call& call, Value product) {
  const Scalar beta = call.scalar("beta"), alpha = call.scalar("alpha");
  const Value scaled_product = scaled(onnx, product, alpha);
  // PyTorch ignores `self` when beta is 0; multiplying would let its NaNs through.
  if (beta.is(0)) return onnx.expand(scaled_product, call.result_shape());
  return onnx.add(scaled_product, scaled(onnx, call.tensor("self"), beta));
}

// x^T, as an initializer's transpose or a Transpose node, for a weight of [out, in].
Value transposed(Emit& onnx, Value matrix) { return onnx.swap_axes(matrix, -1, -2); }

Outputs addmm(const Call& call, Emit& onnx) {
  Value self = call.tensor("self"), mat1 = call.tensor("mat1"), mat2 = call.tensor("mat2");
  const Scalar beta = call.scalar("beta"), alpha = call.scalar("alpha");

  // Gemm keeps alpha and beta as float32, and ONNX Runtime has no integer Gemm.
  if (base::is_floating(mat1.dtype()) && alpha.exact_f32() && beta.exact_f32()) {
    // PyTorch ignores `self` when beta is 0; multiplying would let its NaNs through.
    if (beta.is(0)) self = {};
    return {onnx.gemm(mat1, mat2, self, {.alpha = alpha.f32(), .beta = beta.f32()})};
  }
  return {affine(onnx, call, onnx.matmul(mat1, mat2))};
}

Outputs addmv(const Call& call, Emit& onnx) {
  return {affine(onnx, call, onnx.matmul(call.tensor("mat"), call.tensor("vec")))};
}

Outputs addbmm(const Call& call, Emit& onnx) {
  const Value products = onnx.matmul(call.tensor("batch1"), call.tensor("batch2"));
  return {affine(onnx, call,
                 onnx.reduce("ReduceSum", products, std::array<std::int64_t, 1>{0},
                             /*keep_dims=*/false))};
}

Outputs baddbmm(const Call& call, Emit& onnx) {
  return {affine(onnx, call, onnx.matmul(call.tensor("batch1"), call.tensor("batch2")))};
}

Outputs addr(const Call& call, Emit& onnx) {
  const Value column = onnx.unsqueeze(call.tensor("vec1"), {1});
  const Value row = onnx.unsqueeze(call.tensor("vec2"), {0});
  return {affine(onnx, call,
                 onnx.mul(cast_to_result(onnx, call, column), cast_to_result(onnx, call, row)))};
}

Outputs mm(const Call& call, Emit& onnx) {
  return {onnx.matmul(call.tensor("self"), call.tensor("mat2"))};
}

Outputs mv(const Call& call, Emit& onnx) {
  return {onnx.matmul(call.tensor("self"), call.tensor("vec"))};
}

Outputs matmul(const Call& call, Emit& onnx) {
  return {onnx.matmul(call.tensor("self"), call.tensor("other"))};
}

Outputs dot(const Call& call, Emit& onnx) {
  return {onnx.matmul(call.tensor("self"), call.tensor("tensor"))};
}

Outputs vdot(const Call& call, Emit& onnx) {
  return {onnx.matmul(call.tensor("self"), call.tensor("other"))};
}

Outputs outer(const Call& call, Emit& onnx) {
  const Value column = onnx.unsqueeze(call.tensor("self"), {1});
  const Value row = onnx.unsqueeze(call.tensor("vec2"), {0});
  return {onnx.mul(cast_to_result(onnx, call, column), cast_to_result(onnx, call, row))};
}

// Contracts the last axis of both.
Outputs inner(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self"), other = call.tensor("other");
  if (self.rank() == 0 || other.rank() == 0) return {onnx.mul(self, other)};
  if (other.rank() <= 2) {
    return {onnx.matmul(self, other.rank() == 2 ? onnx.swap_axes(other, 0, 1) : other)};
  }
  const Expr inner_size = other.dim(-1);
  const Value rows = onnx.reshape(
      other,
      {symbolic::product(std::span(other.shape()).first(other.shape().size() - 1)), inner_size});
  return {onnx.reshape(onnx.matmul(self, onnx.swap_axes(rows, 0, 1)), call.result_shape())};
}

Outputs linear(const Call& call, Emit& onnx) {
  const Value input = call.tensor("input"), weight = call.tensor("weight");
  const Value bias = call.optional_tensor("bias");

  // ONNX Runtime makes a Gemm of MatMul and Add that it cannot run where nothing comes out.
  if (symbolic::product(call.result_shape()).is(0)) {
    return {onnx.full(call.result_shape(), onnx.zero(call.result_dtype()))};
  }
  // Gemm takes the weight as it lies and adds the bias in one pass, but only for matrices.
  if (input.rank() == 2 && weight.rank() == 2 && base::is_floating(input.dtype())) {
    return {onnx.gemm(input, weight, bias, {.transB = 1})};
  }
  const Value product = onnx.matmul(input, weight.rank() == 2 ? transposed(onnx, weight) : weight);
  return {bias ? onnx.add(product, bias) : product};
}

constexpr Row kRows[] = {
    {"aten::addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> "
     "Tensor",
     addbmm},
    {"aten::addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> "
     "Tensor",
     addmm},
    {"aten::addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
     addmv},
    {"aten::addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> "
     "Tensor",
     addr},
    {"aten::baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) "
     "-> "
     "Tensor",
     baddbmm},
    {"aten::bmm(Tensor self, Tensor mat2) -> Tensor", mm},
    {"aten::dot(Tensor self, Tensor tensor) -> Tensor", dot},
    {"aten::ger(Tensor self, Tensor vec2) -> Tensor", outer},
    {"aten::inner(Tensor self, Tensor other) -> Tensor", inner},
    {"aten::linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor", linear},
    {"aten::matmul(Tensor self, Tensor other) -> Tensor", matmul},
    {"aten::mm(Tensor self, Tensor mat2) -> Tensor", mm},
    {"aten::mv(Tensor self, Tensor vec) -> Tensor", mv},
    {"aten::outer(Tensor self, Tensor vec2) -> Tensor", outer},
    {"aten::vdot(Tensor self, Tensor other) -> Tensor", vdot},
};

}  // namespace

std::span<const Row> linear_rows() { return kRows; }

}  // namespace sardonyx::aten
