// Cholesky factors and what is solved with them.
#include "aten/families.h"
#include "aten/matrices/factorizations.h"

namespace sardonyx::aten {
namespace {

// Of A = U^H U too, where `upper` asks for U: the lower factor of the same matrix, turned.
Outputs cholesky(const Call& call, Emit& onnx) {
  const bool upper = call.flag("upper");
  const Parts given = as_batch(onnx, wide_matrix(call, onnx, "self"));
  const Cholesky found = cholesky_factor(onnx, upper ? adjoint(onnx, given) : given);
  return {as_result(call, onnx, upper ? adjoint(onnx, found.lower) : found.lower),
          as_result(call, onnx, {found.failed, {}}, 1)};
}

Parts broadcast(Emit& onnx, const Parts& x, const Shape& batch) {
  Shape shape = batch;
  shape.insert(shape.end(), x.real.shape().end() - 2, x.real.shape().end());
  return as_batch(onnx, each_part(x, [&](Value part) { return onnx.expand(part, shape); }));
}

// L L^H X = B
Parts solve_with_factor(Emit& onnx, const Parts& factor, bool upper, const Parts& b) {
  const Parts lower = upper ? adjoint(onnx, factor) : factor;
  const Parts middle = solve_triangle(onnx, lower, b, false, false);
  return solve_triangle(onnx, adjoint(onnx, lower), middle, true, false);
}

Outputs cholesky_solve_with(const Call& call, Emit& onnx, std::string_view factor) {
  const Shape& result = call.result_shape();
  const Shape batch(result.begin(), result.end() - 2);
  const Parts l = broadcast(onnx, wide_matrix(call, onnx, factor), batch);
  const Parts b = broadcast(onnx, wide_matrix(call, onnx, "self"), batch);
  return {as_result(call, onnx, solve_with_factor(onnx, l, call.flag("upper"), b))};
}
Outputs cholesky_solve(const Call& call, Emit& onnx) {
  return cholesky_solve_with(call, onnx, "input2");
}
Outputs _cholesky_solve_helper(const Call& call, Emit& onnx) {
  return cholesky_solve_with(call, onnx, "A");
}

Outputs cholesky_inverse(const Call& call, Emit& onnx) {
  const Parts l = as_batch(onnx, wide_matrix(call, onnx, "self"));
  const Expr n = l.real.dim(2);
  const Parts unit = identity_matrix(onnx, l, n, n);
  return {as_result(call, onnx, solve_with_factor(onnx, l, call.flag("upper"), unit))};
}

constexpr Row kRows[] = {
    {"aten::_cholesky_solve_helper(Tensor self, Tensor A, bool upper) -> Tensor",
     _cholesky_solve_helper},
    {"aten::cholesky(Tensor self, bool upper=False) -> Tensor", cholesky},
    {"aten::cholesky_inverse(Tensor self, bool upper=False) -> Tensor", cholesky_inverse},
    {"aten::cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor",
     cholesky_solve},
    {"aten::linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor", cholesky},
    {"aten::linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> "
     "(Tensor L, Tensor info)",
     cholesky},
};

}  // namespace

std::span<const Row> positive_definite_rows() { return kRows; }

}  // namespace sardonyx::aten
