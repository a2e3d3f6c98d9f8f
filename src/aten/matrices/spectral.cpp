// Eigenvalues of Hermitian matrices, singular values, and what follows from them: pseudoinverses,
// ranks, least squares. Signs and phases of the vectors are free, and not LAPACK's.
#include <limits>

#include "aten/families.h"
#include "aten/matrices/singular_values.h"

namespace sardonyx::aten {

bool is_empty(const Parts& a) {
  return a.real.dim(-1).is(0) || a.real.dim(-2).is(0) || a.real.dim(0).is(0);
}

// The fewer the columns, the shorter the loop.
Value singular_values(Emit& onnx, const Parts& a) {
  const Expr m = a.real.dim(1), n = a.real.dim(2);
  const bool known = m.is_constant() && n.is_constant();
  if (known && m.value() < n.value()) {
    return one_sided_jacobi(onnx, adjoint(onnx, a), false).values;
  }
  const Value all = one_sided_jacobi(onnx, a, false).values;
  return known || m == n ? all : onnx.slice(all, 1, 0, symbolic::min(m, n));
}

Parts hermitian_from(Emit& onnx, const Parts& a, bool upper) {
  const ComplexMath math(onnx);
  const Parts lower = upper ? adjoint(onnx, a) : a;
  const Parts below = lower_triangle(onnx, lower, -1);
  const Value mask = identity_mask(onnx, a.real.dim(1), a.real.dim(2));
  const Value diagonal = onnx.where(mask, a.real, onnx.zero(DType::kFloat64));
  return math.add(math.add(below, adjoint(onnx, below)), {diagonal, {}});
}

namespace {

Parts given(const Call& call, Emit& onnx, std::string_view name) {
  return as_batch(onnx, wide_matrix(call, onnx, name));
}

Value empty_result(const Call& call, Emit& onnx, std::size_t output, double value = 0) {
  if (!call.uses_output(output)) return {};
  const DType dtype = call.result_dtype(output);
  const Parts parts = {
      onnx.full(call.result_shape(output), onnx.scalar(value, base::real_of(dtype))), {}};
  return joined(onnx, base::is_complex(dtype) ? ComplexMath(onnx).complete(parts) : parts);
}

// --- Hermitian matrices

Outputs eigh_of(const Call& call, Emit& onnx, std::string_view name, bool vectors) {
  const Parts a = given(call, onnx, name);
  const std::string triangle = call.text("UPLO");
  if (is_empty(a)) return {empty_result(call, onnx, 0), empty_result(call, onnx, 1)};
  const bool upper = triangle == "U" || triangle == "u";
  const Eigen found = hermitian_eigen(onnx, hermitian_from(onnx, a, upper), vectors);
  return {as_result(call, onnx, {found.values, {}}),
          vectors ? as_result(call, onnx, found.vectors, 1) : empty_result(call, onnx, 1)};
}

Outputs linalg_eigh(const Call& call, Emit& onnx) {
  return eigh_of(call, onnx, "self", call.uses_output(1));
}
Outputs linalg_eigvalsh(const Call& call, Emit& onnx) { return eigh_of(call, onnx, "self", false); }
Outputs _linalg_eigh(const Call& call, Emit& onnx) {
  return eigh_of(call, onnx, "A", call.flag("compute_v") && call.uses_output(1));
}

// --- singular values

Outputs linalg_svdvals(const Call& call, Emit& onnx) {
  const Parts a = given(call, onnx, "A");
  if (is_empty(a)) return {empty_result(call, onnx, 0)};
  return {as_result(call, onnx, {singular_values(onnx, a), {}})};
}

struct Svd {
  Parts left, right;  // A = U S V^H
  Value values;
};

// A V = B with orthogonal columns of the singular values' lengths, the longest first: B = Q R has a
// diagonal R, so that Q is U but for signs, and has the columns that are free where B is 0.
Svd svd_by_columns(Emit& onnx, const Parts& a, bool complete) {
  const ComplexMath math(onnx);
  const Orthogonalized found = one_sided_jacobi(onnx, a, true);
  const Expr m = a.real.dim(1), n = a.real.dim(2), k = symbolic::min(m, n);
  const Reflections h = householder(onnx, found.product);
  const Parts q = orthogonal_factor(onnx, h, complete ? m : k);
  const Value negative = onnx.less(diagonal_of(onnx, h.packed).real, onnx.zero(DType::kFloat64));
  Value signs = onnx.where(negative, onnx.scalar(-1, DType::kFloat64), onnx.one(DType::kFloat64));
  if (complete && !(m == k)) {
    const Value ones = onnx.full(Shape{a.real.dim(0), m - k}, onnx.one(DType::kFloat64));
    signs = onnx.concat({signs, ones}, 1);
  }
  const auto first = [&](Value x, std::int64_t axis) {
    return n == k ? x : onnx.slice(x, axis, 0, k);
  };
  const Parts right =
      complete ? found.right : each_part(found.right, [&](Value part) { return first(part, 2); });
  return {math.mul(q, {onnx.unsqueeze(signs, {1}), {}}), right, first(found.values, 1)};
}

bool is_wide(const Parts& a) {
  const Expr m = a.real.dim(1), n = a.real.dim(2);
  return m.is_constant() && n.is_constant() && m.value() < n.value();
}

// The fewer the columns, the shorter the loop.
Svd svd_of(Emit& onnx, const Parts& a, bool complete) {
  if (!is_wide(a)) return svd_by_columns(onnx, a, complete);
  const Svd turned = svd_by_columns(onnx, adjoint(onnx, a), complete);
  return {turned.right, turned.left, turned.values};
}

Value empty_vectors(const Call& call, Emit& onnx, std::size_t output) {
  if (!call.uses_output(output)) return {};
  const Shape& shape = call.result_shape(output);
  const DType dtype = base::real_of(call.result_dtype(output));
  const Value eye = onnx.cast(identity_mask(onnx, shape[shape.size() - 2], shape.back()), dtype);
  return as_result(call, onnx, {onnx.expand(eye, shape), {}}, output);
}

// `turned`: V as the program has it, not V^H.
Outputs svd_outputs(const Call& call, Emit& onnx, std::string_view name, bool complete,
                    bool vectors, bool turned) {
  const Parts a = given(call, onnx, name);
  if (is_empty(a)) {
    return {empty_vectors(call, onnx, 0), empty_result(call, onnx, 1),
            empty_vectors(call, onnx, 2)};
  }
  if (!vectors) {
    return {empty_result(call, onnx, 0), as_result(call, onnx, {singular_values(onnx, a), {}}, 1),
            empty_result(call, onnx, 2)};
  }
  const Svd found = svd_of(onnx, a, complete);
  return {as_result(call, onnx, found.left), as_result(call, onnx, {found.values, {}}, 1),
          as_result(call, onnx, turned ? found.right : adjoint(onnx, found.right), 2)};
}

Outputs linalg_svd(const Call& call, Emit& onnx) {
  return svd_outputs(call, onnx, "A", call.flag("full_matrices"), true, false);
}
Outputs _linalg_svd(const Call& call, Emit& onnx) {
  return svd_outputs(call, onnx, "A", call.flag("full_matrices"), call.flag("compute_uv"), false);
}
Outputs svd(const Call& call, Emit& onnx) {
  return svd_outputs(call, onnx, "self", !call.flag("some"), call.flag("compute_uv"), true);
}

// --- what counts as zero

// A number or a tensor of one for each matrix, as [batch, 1] or a number.
Value bound(const Call& call, Emit& onnx, std::string_view name) {
  if (!call.captured().schema->find(name) || !call.has(name)) return {};
  if (!call.argument(name).get<program::Value*>()) {
    return onnx.scalar(call.number(name), DType::kFloat64);
  }
  const Value given = onnx.cast(call.tensor(name), DType::kFloat64);
  if (given.rank() == 0) return given;
  const Expr batch = symbolic::product(given.shape());
  return onnx.reshape(given, {batch, Expr(1)});
}

// max(atol, rtol * largest), rtol by default the type's epsilon times the longer side where no atol
// is asked for.
Value tolerance(const Call& call, Emit& onnx, const Parts& a, Value largest, DType dtype,
                std::string_view absolute, std::string_view relative) {
  const Value atol = bound(call, onnx, absolute);
  Value rtol = bound(call, onnx, relative);
  if (!rtol && !atol) {
    const double epsilon = dtype == DType::kFloat64 ? std::numeric_limits<double>::epsilon()
                                                    : std::numeric_limits<float>::epsilon();
    const Expr side = symbolic::max(a.real.dim(1), a.real.dim(2));
    rtol = onnx.mul(onnx.cast(onnx.size(side), DType::kFloat64),
                    onnx.scalar(epsilon, DType::kFloat64));
  } else if (!rtol) {
    return atol;
  }
  const Value scaled = onnx.mul(largest, rtol);
  return atol ? onnx.max({scaled, atol}) : scaled;
}

Value first_of(Emit& onnx, Value values) { return onnx.slice(values, 1, 0, 1); }

std::string_view operand_name(const Call& call) {
  return call.captured().schema->find("self") ? "self" : "input";
}

Parts hermitian_or_not(const Call& call, Emit& onnx, std::string_view name) {
  const Parts a = given(call, onnx, name);
  const bool hermitian = call.captured().schema->find("hermitian") && call.flag("hermitian");
  return hermitian ? hermitian_from(onnx, a, false) : a;
}

Value rank_of(Emit& onnx, Value values, Value least) {
  const std::int64_t axis = 1;
  const Value counted = onnx.cast(onnx.greater(values, least), DType::kInt64);
  return onnx.reduce("ReduceSum", counted, {&axis, 1}, false);
}

Outputs matrix_rank(const Call& call, Emit& onnx) {
  const std::string_view name = operand_name(call);
  const Parts a = hermitian_or_not(call, onnx, name);
  if (is_empty(a)) return {empty_result(call, onnx, 0)};
  const Value values = singular_values(onnx, a);
  const bool by_tol = call.captured().schema->find("tol").has_value();
  const Value least = tolerance(call, onnx, a, first_of(onnx, values), call.tensor(name).dtype(),
                                by_tol ? "tol" : "atol", "rtol");
  return {as_result(call, onnx, {rank_of(onnx, values, least), {}})};
}

// --- pseudoinverses

struct PseudoInverse {
  Parts inverse;
  Value values, rank;
};

// V diag(1 / s^2) B^H, where B = U diag(s), over the s that count.
PseudoInverse pseudo_inverse(const Call& call, Emit& onnx, const Parts& a, DType dtype,
                             std::string_view absolute, std::string_view relative) {
  const ComplexMath math(onnx);
  const bool wide = is_wide(a);
  const Orthogonalized found = one_sided_jacobi(onnx, wide ? adjoint(onnx, a) : a, true);
  const Value least =
      tolerance(call, onnx, a, first_of(onnx, found.values), dtype, absolute, relative);
  const Value square = onnx.mul(found.values, found.values);
  const Value counts = onnx.greater(found.values, least);
  const Value weight = onnx.where(counts, onnx.reciprocal(square), onnx.zero(DType::kFloat64));
  const Parts weighted = math.mul(found.right, {onnx.unsqueeze(weight, {1}), {}});
  const Parts inverse = math.matmul(weighted, adjoint(onnx, found.product));
  return {wide ? adjoint(onnx, inverse) : inverse, found.values,
          rank_of(onnx, found.values, least)};
}

Outputs pinv(const Call& call, Emit& onnx) {
  const Parts a = hermitian_or_not(call, onnx, "self");
  if (is_empty(a)) return {empty_result(call, onnx, 0)};
  const bool by_rcond = call.captured().schema->find("rcond").has_value();
  return {as_result(call, onnx,
                    pseudo_inverse(call, onnx, a, call.tensor("self").dtype(), "atol",
                                   by_rcond ? "rcond" : "rtol")
                        .inverse)};
}

// The shortest of the best solutions. Residuals and singular values are given where PyTorch's
// driver gives them.
Outputs lstsq(const Call& call, Emit& onnx) {
  const ComplexMath math(onnx);
  const Parts a = given(call, onnx, "self"), whole = wide_matrix(call, onnx, "b");
  const bool vector =
      whole.real.rank() < call.tensor("self").rank() - (call.tensor("self").is_complex() ? 1 : 0);
  const Parts b = as_batch(
      onnx, vector ? each_part(whole, [&](Value x) { return onnx.unsqueeze(x, {-1}); }) : whole);
  Outputs outputs(4);
  for (std::size_t i = 0; i < 4; ++i) outputs[i] = empty_result(call, onnx, i);
  if (is_empty(a) || is_empty(b)) return outputs;
  const PseudoInverse found =
      pseudo_inverse(call, onnx, a, call.tensor("self").dtype(), "", "rcond");
  const Parts solution = math.matmul(found.inverse, b);
  outputs[0] = as_result(call, onnx, solution);
  const auto nonempty = [&](std::size_t i) {
    return call.uses_output(i) && !symbolic::product(call.result_shape(i)).is(0);
  };
  if (nonempty(1)) {
    const Value squares = math.squared_abs(math.sub(math.matmul(a, solution), b));
    const std::int64_t axis = 1;
    outputs[1] =
        as_result(call, onnx, {onnx.reduce("ReduceSum", squares, {&axis, 1}, false), {}}, 1);
  }
  if (nonempty(2)) outputs[2] = as_result(call, onnx, {found.rank, {}}, 2);
  if (nonempty(3)) {
    // Where it is not known which of the sizes is less, zeros follow.
    const Value values = onnx.slice(found.values, 1, 0, call.result_shape(3).back());
    outputs[3] = as_result(call, onnx, {values, {}}, 3);
  }
  return outputs;
}

Outputs general_eigenvalues(const Call& call, Emit& /*onnx*/) {
  call.refuse("eigenvalues of general matrices are not supported",
              "use torch.linalg.eigh or eigvalsh where the matrix is symmetric, or compute them "
              "outside of the model");
}
Outputs indefinite_factors(const Call& call, Emit& /*onnx*/) {
  call.refuse("LDL factors of indefinite matrices",
              "use torch.linalg.solve, or cholesky where the matrix is positive definite");
}

constexpr Row kRows[] = {
    {"aten::_linalg_eigh(Tensor A, str UPLO=\"L\", bool compute_v=True) -> (Tensor eigenvalues, "
     "Tensor eigenvectors)",
     _linalg_eigh},
    {"aten::_linalg_eigvals(Tensor self) -> Tensor", general_eigenvalues},
    {"aten::_linalg_svd(Tensor A, bool full_matrices=False, bool compute_uv=True, *, str? "
     "driver=None) -> (Tensor U, Tensor S, Tensor Vh)",
     _linalg_svd},
    {"aten::linalg_eig(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors)",
     general_eigenvalues},
    {"aten::linalg_eigh(Tensor self, str UPLO=\"L\") -> (Tensor eigenvalues, Tensor eigenvectors)",
     linalg_eigh},
    {"aten::linalg_eigvals(Tensor self) -> Tensor", general_eigenvalues},
    {"aten::linalg_eigvalsh(Tensor self, str UPLO=\"L\") -> Tensor", linalg_eigvalsh},
    {"aten::linalg_ldl_factor(Tensor self, *, bool hermitian=False) -> (Tensor LD, Tensor pivots)",
     indefinite_factors},
    {"aten::linalg_ldl_factor_ex(Tensor self, *, bool hermitian=False, bool check_errors=False) -> "
     "(Tensor LD, Tensor pivots, Tensor info)",
     indefinite_factors},
    {"aten::linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> "
     "Tensor",
     indefinite_factors},
    {"aten::linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> (Tensor "
     "solution, Tensor residuals, Tensor rank, Tensor singular_values)",
     lstsq},
    {"aten::linalg_matrix_rank(Tensor self, float tol, bool hermitian=False) -> Tensor",
     matrix_rank},
    {"aten::linalg_matrix_rank.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, "
     "bool hermitian=False) -> Tensor",
     matrix_rank},
    {"aten::linalg_matrix_rank.atol_rtol_tensor(Tensor input, *, Tensor? atol=None, Tensor? "
     "rtol=None, bool hermitian=False) -> Tensor",
     matrix_rank},
    {"aten::linalg_matrix_rank.tol_tensor(Tensor input, Tensor tol, bool hermitian=False) -> "
     "Tensor",
     matrix_rank},
    {"aten::linalg_pinv(Tensor self, float rcond, bool hermitian=False) -> Tensor", pinv},
    {"aten::linalg_pinv.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool "
     "hermitian=False) -> Tensor",
     pinv},
    {"aten::linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, "
     "bool hermitian=False) -> Tensor",
     pinv},
    {"aten::linalg_pinv.rcond_tensor(Tensor self, Tensor rcond, bool hermitian=False) -> Tensor",
     pinv},
    {"aten::linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, "
     "Tensor S, Tensor Vh)",
     linalg_svd},
    {"aten::linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor", linalg_svdvals},
    {"aten::pinverse(Tensor self, float rcond=1.0000000000000001e-15) -> Tensor", pinv},
    {"aten::svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor "
     "V)",
     svd},
};

}  // namespace

std::span<const Row> spectral_rows() { return kRows; }

}  // namespace sardonyx::aten
