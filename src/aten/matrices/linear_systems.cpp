// Determinants, inverses and solutions of linear systems, from LU factors. Singular matrices, which
// PyTorch raises an error for, give infinities and NaNs.
#include <algorithm>
#include <limits>

#include "aten/families.h"
#include "aten/matrices/factorizations.h"

namespace sardonyx::aten {
namespace {

Value over_last(Emit& onnx, std::string_view op, Value x) {
  const std::int64_t axis = -1;
  return onnx.reduce(op, x, {&axis, 1}, false);
}

Lu factors_of(const Call& call, Emit& onnx, std::string_view name = "A") {
  return lu_factors(onnx, as_batch(onnx, wide_matrix(call, onnx, name)));
}

// LAPACK counts rows from 1.
Value as_pivots(const Call& call, Emit& onnx, const Lu& lu, std::size_t output) {
  return as_result(call, onnx, {onnx.add(lu.pivots, onnx.int_scalar(1)), {}}, output);
}

// --- determinants

Parts product_along(Emit& onnx, const Parts& x) {
  const ComplexMath math(onnx);
  const Value one = onnx.full(Shape{x.real.dim(0)}, onnx.one(DType::kFloat64));
  if (!x.imaginary) {
    // A 1 beside them: ONNX Runtime has no product of nothing.
    const bool some = symbolic::certainly_positive(x.real.dim(1));
    const Value factors = some ? x.real : onnx.concat({x.real, onnx.unsqueeze(one, {1})}, 1);
    return {over_last(onnx, "ReduceProd", factors), {}};
  }
  return repeat(onnx, onnx.size(x.real.dim(1)), {math.complete({one, {}})},
                [&](Value k, const State& state) {
                  const Parts next =
                      each_part(x, [&](Value part) { return onnx.gather(part, k, {.axis = 1}); });
                  return Stepped{{math.mul(state[0], next)}, {}, {}};
                })
      .last[0];
}

// Up to three rows as a polynomial of the elements, which is what small models hold.
std::optional<Parts> small_determinant(Emit& onnx, const Parts& a) {
  const ComplexMath math(onnx);
  const Expr n = a.real.dim(2);
  const auto at = [&](std::int64_t i, std::int64_t j) {
    return each_part(a, [&](Value part) { return onnx.select(onnx.select(part, 1, i), 1, j); });
  };
  if (n.is(0)) return Parts{onnx.full(Shape{a.real.dim(0)}, onnx.one(DType::kFloat64)), {}};
  if (n.is(1)) return at(0, 0);
  if (n.is(2)) return math.sub(math.mul(at(0, 0), at(1, 1)), math.mul(at(0, 1), at(1, 0)));
  if (!n.is(3)) return std::nullopt;
  const auto minor = [&](std::int64_t i, std::int64_t j) {
    return math.sub(math.mul(at(1, i), at(2, j)), math.mul(at(1, j), at(2, i)));
  };
  const Parts outer = math.add(math.mul(at(0, 0), minor(1, 2)), math.mul(at(0, 2), minor(0, 1)));
  return math.sub(outer, math.mul(at(0, 1), minor(0, 2)));
}

Parts determinant(Emit& onnx, const Parts& a) {
  if (const auto small = small_determinant(onnx, a)) return *small;
  const Lu lu = lu_factors(onnx, a);
  return ComplexMath(onnx).mul(product_along(onnx, diagonal_of(onnx, lu.packed)),
                               {permutation_sign(onnx, lu.pivots), {}});
}

Outputs det_of(const Call& call, Emit& onnx, std::string_view name) {
  const Parts a = as_batch(onnx, wide_matrix(call, onnx, name));
  Outputs outputs = {as_result(call, onnx, determinant(onnx, a))};
  if (call.uses_output(1) || call.uses_output(2)) {
    const Lu lu = lu_factors(onnx, a);
    outputs.push_back(as_result(call, onnx, lu.packed, 1));
    outputs.push_back(as_pivots(call, onnx, lu, 2));
  }
  return outputs;
}
Outputs det(const Call& call, Emit& onnx) { return det_of(call, onnx, "self"); }
Outputs linalg_det(const Call& call, Emit& onnx) { return det_of(call, onnx, "A"); }

struct SignedLog {
  Parts sign;
  Value log;  // of the magnitude
};
SignedLog signed_log(Emit& onnx, const Lu& lu) {
  const ComplexMath math(onnx);
  const Parts diagonal = diagonal_of(onnx, lu.packed);
  const Parts sign = product_along(onnx, math.sgn(diagonal));
  return {math.mul(sign, {permutation_sign(onnx, lu.pivots), {}}),
          over_last(onnx, "ReduceSum", onnx.log(math.abs(diagonal)))};
}

Outputs slogdet_of(const Call& call, Emit& onnx, std::string_view name) {
  const Lu lu = factors_of(call, onnx, name);
  const SignedLog found = signed_log(onnx, lu);
  Outputs outputs = {as_result(call, onnx, found.sign), as_result(call, onnx, {found.log, {}}, 1)};
  if (call.output_count() > 2) {
    outputs.push_back(as_result(call, onnx, lu.packed, 2));
    outputs.push_back(as_pivots(call, onnx, lu, 3));
  }
  return outputs;
}
Outputs slogdet(const Call& call, Emit& onnx) { return slogdet_of(call, onnx, "self"); }
Outputs linalg_slogdet(const Call& call, Emit& onnx) { return slogdet_of(call, onnx, "A"); }

// Of a negative determinant NaN; of a complex one the angle as well.
Outputs logdet(const Call& call, Emit& onnx) {
  const ComplexMath math(onnx);
  const SignedLog found = signed_log(onnx, factors_of(call, onnx, "self"));
  if (found.sign.imaginary) {
    return {as_result(call, onnx, {found.log, math.angle(found.sign)})};
  }
  const Value negative = onnx.less(found.sign.real, onnx.zero(DType::kFloat64));
  const Value nan = onnx.scalar(std::numeric_limits<double>::quiet_NaN(), DType::kFloat64);
  return {as_result(call, onnx, {onnx.where(negative, nan, found.log), {}})};
}

// --- inverses and solutions

Outputs inverse_of(const Call& call, Emit& onnx, std::string_view name) {
  const Parts a = as_batch(onnx, wide_matrix(call, onnx, name));
  const Expr n = a.real.dim(2);
  const Lu lu = lu_factors(onnx, a);
  const Parts found = solve_with(onnx, lu, identity_matrix(onnx, a, n, n));
  return {as_result(call, onnx, found),
          as_result(call, onnx, {first_zero_pivot(onnx, lu.packed), {}}, 1)};
}
Outputs inverse(const Call& call, Emit& onnx) { return inverse_of(call, onnx, "self"); }
Outputs linalg_inv(const Call& call, Emit& onnx) { return inverse_of(call, onnx, "A"); }

// B as a batch of matrices with as many matrices as A has: a vector is one column.
Parts right_side(Emit& onnx, const Parts& b, bool vector, const Shape& batch) {
  const Parts columns =
      vector ? each_part(b, [&](Value part) { return onnx.unsqueeze(part, {-1}); }) : b;
  Shape shape = batch;
  shape.insert(shape.end(), columns.real.shape().end() - 2, columns.real.shape().end());
  return as_batch(onnx, each_part(columns, [&](Value part) { return onnx.expand(part, shape); }));
}

Parts left_side(Emit& onnx, const Parts& a, const Shape& batch) {
  Shape shape = batch;
  shape.insert(shape.end(), a.real.shape().end() - 2, a.real.shape().end());
  return as_batch(onnx, each_part(a, [&](Value part) { return onnx.expand(part, shape); }));
}

struct System {
  Parts a, b;
  bool turned;  // X A = B, solved as A^T X^T = B^T
};

// The two sides, broadcast to the batch of the result.
System system_of(const Call& call, Emit& onnx, const Parts& a, const Parts& b, bool vector,
                 bool left) {
  const Shape& result = call.result_shape();
  const Shape batch(result.begin(), result.end() - (vector ? 1 : 2));
  const Parts sides[] = {left_side(onnx, a, batch), right_side(onnx, b, vector, batch)};
  if (left || vector) return {sides[0], sides[1], false};
  return {transposed(onnx, sides[0]), transposed(onnx, sides[1]), true};
}

// PyTorch takes B for a batch of vectors where it has one axis less than A.
bool is_vector(const Parts& a, const Parts& b) {
  return b.real.rank() == 1 ||
         (a.real.rank() - 1 == b.real.rank() &&
          std::ranges::equal(b.real.shape(),
                             std::span(a.real.shape()).first(a.real.shape().size() - 1)));
}

Outputs solve(const Call& call, Emit& onnx) {
  const Parts a = wide_matrix(call, onnx, "A"), b = wide_matrix(call, onnx, "B");
  if (!call.uses_output(0) && call.output_count() == 2) {
    return {{},
            as_result(call, onnx,
                      {first_zero_pivot(onnx, lu_factors(onnx, as_batch(onnx, a)).packed), {}}, 1)};
  }
  const System system = system_of(call, onnx, a, b, is_vector(a, b), call.flag("left"));
  const Lu lu = lu_factors(onnx, system.a);
  const Parts found = solve_with(onnx, lu, system.b);
  Outputs outputs = {as_result(call, onnx, system.turned ? transposed(onnx, found) : found)};
  if (call.output_count() == 2) {
    outputs.push_back(as_result(call, onnx, {first_zero_pivot(onnx, lu.packed), {}}, 1));
  } else if (call.output_count() > 2) {
    const Lu own = lu_factors(onnx, as_batch(onnx, a));
    outputs.push_back(as_result(call, onnx, own.packed, 1));
    outputs.push_back(as_pivots(call, onnx, own, 2));
    outputs.push_back(as_result(call, onnx, {first_zero_pivot(onnx, own.packed), {}}, 3));
  }
  return outputs;
}

Outputs solve_triangular_with(const Call& call, Emit& onnx, const Parts& a, const Parts& b,
                              bool left, bool upper) {
  const System system = system_of(call, onnx, a, b, false, left);
  const Parts found =
      solve_triangle(onnx, system.a, system.b, upper != system.turned, call.flag("unitriangular"));
  return {as_result(call, onnx, system.turned ? transposed(onnx, found) : found)};
}

Outputs linalg_solve_triangular(const Call& call, Emit& onnx) {
  return solve_triangular_with(call, onnx, wide_matrix(call, onnx, "self"),
                               wide_matrix(call, onnx, "B"), call.flag("left"), call.flag("upper"));
}

Outputs triangular_solve(const Call& call, Emit& onnx) {
  const Parts a = wide_matrix(call, onnx, "A"), b = wide_matrix(call, onnx, "self");
  const bool transpose = call.flag("transpose");
  const Parts t = transpose ? transposed(onnx, a) : a;
  Outputs outputs(1);
  if (call.uses_output(0)) {
    outputs = solve_triangular_with(call, onnx, t, b, true, call.flag("upper") != transpose);
  }
  if (call.uses_output(1)) {
    const Shape& result = call.result_shape(1);
    const Parts copy = each_part(parts_of(onnx, call.tensor("A")),
                                 [&](Value part) { return onnx.expand(part, result); });
    outputs.push_back(joined(onnx, copy));
  }
  return outputs;
}

// --- the factors themselves

void refuse_without_pivoting(const Call& call) {
  if (!call.flag("pivot")) call.refuse("LU factors without pivoting", "use pivot=True");
}

Outputs lu_factor(const Call& call, Emit& onnx) {
  refuse_without_pivoting(call);
  const Lu lu = factors_of(call, onnx);
  Outputs outputs = {as_result(call, onnx, lu.packed), as_pivots(call, onnx, lu, 1)};
  if (call.output_count() > 2) {
    outputs.push_back(as_result(call, onnx, {first_zero_pivot(onnx, lu.packed), {}}, 2));
  }
  return outputs;
}

Outputs lu_with_info(const Call& call, Emit& onnx) {
  refuse_without_pivoting(call);
  const Lu lu = factors_of(call, onnx, "self");
  return {as_result(call, onnx, lu.packed), as_pivots(call, onnx, lu, 1),
          as_result(call, onnx, {first_zero_pivot(onnx, lu.packed), {}}, 2)};
}

Parts unpacked_lower(Emit& onnx, const Parts& packed) {
  const Expr m = packed.real.dim(1), n = packed.real.dim(2), k = symbolic::min(m, n);
  const Parts below = lower_triangle(onnx, packed, -1);
  const Parts cut =
      n == k ? below : each_part(below, [&](Value part) { return onnx.slice(part, 2, 0, k); });
  const Parts unit = identity_matrix(onnx, {cut.real, {}}, m, k);
  return ComplexMath(onnx).add(cut, unit);
}

Parts unpacked_upper(Emit& onnx, const Parts& packed) {
  const Expr m = packed.real.dim(1), n = packed.real.dim(2), k = symbolic::min(m, n);
  const Parts above = upper_triangle(onnx, packed);
  return m == k ? above : each_part(above, [&](Value part) { return onnx.slice(part, 1, 0, k); });
}

// Column j of P has its 1 where row j of P^T A comes from.
Parts permutation_matrix(Emit& onnx, Value order) {
  const Value rows = onnx.range(order.dim(1));
  const Value ones = onnx.equal(onnx.unsqueeze(rows, {1}), onnx.unsqueeze(order, {1}));
  return {onnx.cast(ones, DType::kFloat64), {}};
}

Outputs linalg_lu(const Call& call, Emit& onnx) {
  refuse_without_pivoting(call);
  const Lu lu = factors_of(call, onnx);
  return {as_result(call, onnx, permutation_matrix(onnx, lu.order)),
          as_result(call, onnx, unpacked_lower(onnx, lu.packed), 1),
          as_result(call, onnx, unpacked_upper(onnx, lu.packed), 2)};
}

// Row numbers from 0, one list a matrix.
Value given_pivots(const Call& call, Emit& onnx, std::string_view name) {
  const Value pivots = onnx.cast(call.tensor(name), DType::kInt64);
  const Shape& shape = pivots.shape();
  const Expr batch = symbolic::product(std::span(shape).first(shape.size() - 1));
  return onnx.sub(onnx.reshape(pivots, {batch, shape.back()}), onnx.int_scalar(1));
}

Outputs lu_unpack(const Call& call, Emit& onnx) {
  const Parts packed = as_batch(onnx, wide_matrix(call, onnx, "LU_data"));
  Outputs outputs(3);
  for (std::size_t i = 0; i < 3; ++i) {
    if (call.uses_output(i)) {
      outputs[i] = onnx.full(call.result_shape(i), onnx.zero(base::real_of(call.result_dtype(i))));
    }
  }
  if (call.flag("unpack_pivots") && call.uses_output(0)) {
    const Value order = order_of(onnx, given_pivots(call, onnx, "LU_pivots"), packed.real.dim(1));
    outputs[0] = as_result(call, onnx, permutation_matrix(onnx, order));
  }
  if (call.flag("unpack_data")) {
    outputs[1] = as_result(call, onnx, unpacked_lower(onnx, packed), 1);
    outputs[2] = as_result(call, onnx, unpacked_upper(onnx, packed), 2);
  }
  return outputs;
}

// (P L U)^H X = B is U^H, then L^H, then the rows put back.
Parts solve_adjoint(Emit& onnx, const Lu& lu, const Parts& b) {
  const Parts turned = adjoint(onnx, lu.packed);
  const Parts middle = solve_triangle(onnx, turned, b, false, false);
  const Parts rows = solve_triangle(onnx, turned, middle, true, true);
  // The reverse of an order is the order of its numbers.
  const auto back = onnx.topk(lu.order, onnx.sizes({lu.order.dim(1)}), {.axis = 1, .largest = 0});
  Emit::set_type(back[1], DType::kInt64, lu.order.shape());
  return ordered_rows(onnx, rows, back[1]);
}

Outputs lu_solve_with(const Call& call, Emit& onnx, std::string_view lu_name,
                      std::string_view pivots_name, std::string_view b_name, bool left,
                      bool adjointed) {
  const Shape& result = call.result_shape();
  const Shape batch(result.begin(), result.end() - 2);
  const Parts packed = left_side(onnx, wide_matrix(call, onnx, lu_name), batch);
  const Value pivots = onnx.cast(call.tensor(pivots_name), DType::kInt64);
  Shape shape = batch;
  shape.push_back(pivots.shape().back());
  const Value spread =
      onnx.reshape(onnx.expand(pivots, shape), {symbolic::product(batch), pivots.shape().back()});
  const Value rows = onnx.sub(spread, onnx.int_scalar(1));
  const Lu lu{packed, rows, order_of(onnx, rows, packed.real.dim(1))};
  const Parts b = right_side(onnx, wide_matrix(call, onnx, b_name), false, batch);
  // X A = B is A^H X^H = B^H.
  const Parts side = left ? b : adjoint(onnx, b);
  const Parts found =
      adjointed == left ? solve_adjoint(onnx, lu, side) : solve_with(onnx, lu, side);
  return {as_result(call, onnx, left ? found : adjoint(onnx, found))};
}

Outputs linalg_lu_solve(const Call& call, Emit& onnx) {
  return lu_solve_with(call, onnx, "LU", "pivots", "B", call.flag("left"), call.flag("adjoint"));
}
Outputs lu_solve(const Call& call, Emit& onnx) {
  return lu_solve_with(call, onnx, "LU_data", "LU_pivots", "self", true, false);
}

// --- tensors as matrices

Outputs tensorinv(const Call& call, Emit& onnx) {
  const Parts a = wide_matrix(call, onnx, "self");
  const Shape& shape = a.real.shape();
  const Expr rows =
      symbolic::product(std::span(shape).first(static_cast<std::size_t>(call.integer("ind"))));
  const Parts square =
      each_part(a, [&](Value part) { return onnx.reshape(part, {Expr(1), rows, rows}); });
  return {as_result(
      call, onnx,
      solve_with(onnx, lu_factors(onnx, square), identity_matrix(onnx, square, rows, rows)))};
}

Outputs tensorsolve(const Call& call, Emit& onnx) {
  Parts a = wide_matrix(call, onnx, "self");
  const Parts b = wide_matrix(call, onnx, "other");
  if (call.has("dims")) {
    const std::vector<std::int64_t> last = call.axes("dims", a.real.rank());
    std::vector<std::int64_t> order;
    for (std::int64_t axis = 0; axis < a.real.rank(); ++axis) {
      if (std::ranges::find(last, axis) == last.end()) order.push_back(axis);
    }
    order.insert(order.end(), last.begin(), last.end());
    a = each_part(a, [&](Value part) { return onnx.transpose(part, order); });
  }
  const Expr n = symbolic::product(b.real.shape());
  const Parts square =
      each_part(a, [&](Value part) { return onnx.reshape(part, {Expr(1), n, n}); });
  const Parts column =
      each_part(b, [&](Value part) { return onnx.reshape(part, {Expr(1), n, Expr(1)}); });
  return {as_result(call, onnx, solve_with(onnx, lu_factors(onnx, square), column))};
}

Outputs nothing(const Call& /*call*/, Emit& /*onnx*/) { return {}; }

constexpr Row kRows[] = {
    {"aten::_linalg_check_errors(Tensor info, str api_name, *, bool is_matrix) -> ()", nothing},
    {"aten::_linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)", linalg_det},
    {"aten::_linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots)",
     linalg_slogdet},
    {"aten::_linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> "
     "(Tensor result, Tensor LU, Tensor pivots, Tensor info)",
     solve},
    {"aten::_lu_with_info(Tensor self, bool pivot=True, bool check_errors=True) -> (Tensor LU, "
     "Tensor pivots, Tensor info)",
     lu_with_info},
    {"aten::det(Tensor self) -> Tensor", det},
    {"aten::inverse(Tensor self) -> Tensor", inverse},
    {"aten::linalg_det(Tensor A) -> Tensor", linalg_det},
    {"aten::linalg_inv(Tensor A) -> Tensor", linalg_inv},
    {"aten::linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)",
     linalg_inv},
    {"aten::linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)", linalg_lu},
    {"aten::linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)",
     lu_factor},
    {"aten::linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor "
     "LU, Tensor pivots, Tensor info)",
     lu_factor},
    {"aten::linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool "
     "adjoint=False) -> Tensor",
     linalg_lu_solve},
    {"aten::linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)", linalg_slogdet},
    {"aten::linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor", solve},
    {"aten::linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> "
     "(Tensor result, Tensor info)",
     solve},
    {"aten::linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool "
     "unitriangular=False) -> Tensor",
     linalg_solve_triangular},
    {"aten::linalg_tensorinv(Tensor self, int ind=2) -> Tensor", tensorinv},
    {"aten::linalg_tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor",
     tensorsolve},
    {"aten::logdet(Tensor self) -> Tensor", logdet},
    {"aten::lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor", lu_solve},
    {"aten::lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool "
     "unpack_pivots=True) -> (Tensor P, Tensor L, Tensor U)",
     lu_unpack},
    {"aten::slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)", slogdet},
    {"aten::triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool "
     "unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)",
     triangular_solve},
};

}  // namespace

std::span<const Row> linear_system_rows() { return kRows; }

}  // namespace sardonyx::aten
