// QR factors and products of reflections.
#include "aten/families.h"
#include "aten/matrices/factorizations.h"

namespace sardonyx::aten {
namespace {

Parts upper_factor(Emit& onnx, const Parts& packed, Expr rows) {
  const Parts r = upper_triangle(onnx, packed);
  return each_part(r, [&](Value part) { return onnx.slice(part, 1, 0, rows); });
}

// All of Q, or as many columns as the smaller side has; mode "r" leaves it out.
Outputs qr_of(const Call& call, Emit& onnx, std::string_view name, const std::string& mode) {
  const Parts a = as_batch(onnx, wide_matrix(call, onnx, name));
  const Expr m = a.real.dim(1), n = a.real.dim(2);
  const Expr columns = mode == "complete" ? m : symbolic::min(m, n);
  const Reflections h = householder(onnx, a);
  Value q;
  if (call.uses_output(0) && mode == "r") {
    q = onnx.full(call.result_shape(0), onnx.zero(base::real_of(call.result_dtype(0))));
    if (base::is_complex(call.result_dtype(0))) q = from_parts(onnx, q, q);
  } else if (call.uses_output(0)) {
    q = as_result(call, onnx, orthogonal_factor(onnx, h, columns));
  }
  return {q, as_result(call, onnx, upper_factor(onnx, h.packed, columns), 1)};
}

Outputs linalg_qr(const Call& call, Emit& onnx) {
  return qr_of(call, onnx, "A", call.text("mode"));
}
Outputs qr(const Call& call, Emit& onnx) {
  return qr_of(call, onnx, "self", call.flag("some") ? "reduced" : "complete");
}

Outputs geqrf(const Call& call, Emit& onnx) {
  const Reflections h = householder(onnx, as_batch(onnx, wide_matrix(call, onnx, "self")));
  return {as_result(call, onnx, h.packed), as_result(call, onnx, h.tau, 1)};
}

Reflections given_reflections(const Call& call, Emit& onnx, std::string_view packed,
                              std::string_view tau) {
  const Parts scales = wide_matrix(call, onnx, tau);
  const Shape& shape = scales.real.shape();
  const Expr batch = symbolic::product(std::span(shape).first(shape.size() - 1));
  return {as_batch(onnx, wide_matrix(call, onnx, packed)),
          each_part(scales, [&](Value part) { return onnx.reshape(part, {batch, shape.back()}); })};
}

Outputs householder_product(const Call& call, Emit& onnx, std::string_view packed,
                            std::string_view tau) {
  const Reflections h = given_reflections(call, onnx, packed, tau);
  return {as_result(call, onnx, orthogonal_factor(onnx, h, h.packed.real.dim(2)))};
}
Outputs linalg_householder_product(const Call& call, Emit& onnx) {
  return householder_product(call, onnx, "input", "tau");
}
Outputs orgqr(const Call& call, Emit& onnx) {
  return householder_product(call, onnx, "self", "input2");
}

// Q C or C Q, Q or its adjoint: C Q is (Q^H C^H)^H.
Outputs ormqr(const Call& call, Emit& onnx) {
  const Reflections h = given_reflections(call, onnx, "self", "input2");
  const Parts c = as_batch(onnx, wide_matrix(call, onnx, "input3"));
  const bool turned = call.flag("transpose");
  if (call.flag("left")) return {as_result(call, onnx, reflected(onnx, h, c, turned))};
  return {as_result(call, onnx, adjoint(onnx, reflected(onnx, h, adjoint(onnx, c), !turned)))};
}

constexpr Row kRows[] = {
    {"aten::geqrf(Tensor self) -> (Tensor a, Tensor tau)", geqrf},
    {"aten::linalg_householder_product(Tensor input, Tensor tau) -> Tensor",
     linalg_householder_product},
    {"aten::linalg_qr(Tensor A, str mode=\"reduced\") -> (Tensor Q, Tensor R)", linalg_qr},
    {"aten::orgqr(Tensor self, Tensor input2) -> Tensor", orgqr},
    {"aten::ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) "
     "-> Tensor",
     ormqr},
    {"aten::qr(Tensor self, bool some=True) -> (Tensor Q, Tensor R)", qr},
};

}  // namespace

std::span<const Row> orthogonal_rows() { return kRows; }

}  // namespace sardonyx::aten
