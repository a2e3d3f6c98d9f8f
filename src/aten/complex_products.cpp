// Products of complex matrices that conjugate an operand or add to one.
#include "aten/complex_math.h"
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

Parts parts(const Call& call, Emit& onnx, std::string_view name) {
  return parts_of_operand(call, onnx, name, base::real_of(call.result_dtype()));
}

Parts summed(Emit& onnx, const Parts& x, std::int64_t axis) {
  return each_part(x,
                   [&](Value part) { return onnx.reduce("ReduceSum", part, {&axis, 1}, false); });
}

Outputs vdot(const Call& call, Emit& onnx) {
  const ComplexMath math(onnx);
  return {
      joined(onnx, math.matmul(math.conj(parts(call, onnx, "self")), parts(call, onnx, "other")))};
}

// beta * self + alpha * product, `self` left out with its NaNs when beta is 0.
Outputs affine(const Call& call, Emit& onnx, const Parts& product) {
  const ComplexMath math(onnx);
  const Parts scaled = math.mul(parts(call, onnx, "alpha"), product);
  const Shape& shape = call.result_shape();
  if (call.scalar("beta").is(0) && !call.scalar("beta").is_complex()) {
    return {joined(onnx, each_part(math.complete(scaled),
                                   [&](Value part) { return onnx.expand(part, shape); }))};
  }
  const Parts self = math.mul(parts(call, onnx, "beta"), parts(call, onnx, "self"));
  return {joined(onnx, math.complete(math.add(scaled, self)))};
}

Outputs addmm(const Call& call, Emit& onnx) {
  return affine(call, onnx,
                ComplexMath(onnx).matmul(parts(call, onnx, "mat1"), parts(call, onnx, "mat2")));
}

Outputs addmv(const Call& call, Emit& onnx) {
  return affine(call, onnx,
                ComplexMath(onnx).matmul(parts(call, onnx, "mat"), parts(call, onnx, "vec")));
}

Parts batch_product(const Call& call, Emit& onnx) {
  return ComplexMath(onnx).matmul(parts(call, onnx, "batch1"), parts(call, onnx, "batch2"));
}

Outputs baddbmm(const Call& call, Emit& onnx) {
  return affine(call, onnx, batch_product(call, onnx));
}

Outputs addbmm(const Call& call, Emit& onnx) {
  return affine(call, onnx, summed(onnx, batch_product(call, onnx), 0));
}

Outputs addr(const Call& call, Emit& onnx) {
  const auto stretched = [&](std::string_view name, std::int64_t axis) {
    return each_part(parts(call, onnx, name),
                     [&](Value part) { return onnx.unsqueeze(part, {axis}); });
  };
  return affine(call, onnx, ComplexMath(onnx).mul(stretched("vec1", 1), stretched("vec2", 0)));
}

constexpr Row kRows[] = {
    {"aten::addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> "
     "Tensor",
     13, addbmm},
    {"aten::addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> "
     "Tensor",
     13, addmm},
    {"aten::addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
     13, addmv},
    {"aten::addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> "
     "Tensor",
     13, addr},
    {"aten::baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) "
     "-> Tensor",
     13, baddbmm},
    {"aten::vdot(Tensor self, Tensor other) -> Tensor", 13, vdot},
};

}  // namespace

std::span<const Row> complex_product_rows() { return kRows; }

}  // namespace sardonyx::aten
