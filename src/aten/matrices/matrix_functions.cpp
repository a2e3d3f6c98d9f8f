// Powers, exponentials, chains of products and traces of matrices.
#include <cmath>

#include "aten/families.h"
#include "aten/matrices/factorizations.h"

namespace sardonyx::aten {
namespace {

Parts power(Emit& onnx, const Parts& a, std::int64_t exponent) {
  const ComplexMath math(onnx);
  std::optional<Parts> result;
  Parts square = a;
  for (std::int64_t left = exponent; left > 0; left /= 2) {
    if (left % 2 == 1) result = result ? math.matmul(*result, square) : square;
    if (left > 1) square = math.matmul(square, square);
  }
  return *result;
}

Outputs matrix_power(const Call& call, Emit& onnx) {
  const std::int64_t exponent = call.integer("n");
  const Parts a = as_batch(onnx, wide_matrix(call, onnx, "self"));
  const Expr n = a.real.dim(2);
  if (exponent == 0) return {as_result(call, onnx, identity_matrix(onnx, a, n, n))};
  if (exponent > 0) return {as_result(call, onnx, power(onnx, a, exponent))};
  const Parts inverse = solve_with(onnx, lu_factors(onnx, a), identity_matrix(onnx, a, n, n));
  return {as_result(call, onnx, power(onnx, inverse, -exponent))};
}

// The Taylor polynomial of degree 18, in powers of A^3; exact to rounding where |A| <= 1.
Parts taylor(Emit& onnx, const Parts& a) {
  const ComplexMath math(onnx);
  const Expr n = a.real.dim(2);
  const Parts unit = identity_matrix(onnx, {a.real, {}}, n, n);
  const Parts square = math.matmul(a, a), cube = math.matmul(square, a);
  const auto term = [&](int first) {
    const double c0 = 1 / std::tgamma(first + 1), c1 = 1 / std::tgamma(first + 2);
    const Parts low = math.add(math.scale(unit, c0), math.scale(a, c1));
    return math.add(low, math.scale(square, 1 / std::tgamma(first + 3)));
  };
  Parts sum = math.add(term(15), math.scale(cube, 1 / std::tgamma(19)));
  for (int first = 12; first >= 0; first -= 3) {
    sum = math.add(term(first), math.matmul(cube, sum));
  }
  return sum;
}

// exp(A) = exp(A / 2^s)^(2^s), with an s that makes all norms at most 1.
Outputs matrix_exp(const Call& call, Emit& onnx) {
  const ComplexMath math(onnx);
  const Parts a = as_batch(onnx, wide_matrix(call, onnx, "self"));
  if (a.real.dim(2).is(0) || a.real.dim(0).is(0)) return {call.tensor("self")};
  const std::vector<std::int64_t> rows = {1}, rest = {0, 1};
  const Value sums = onnx.reduce("ReduceSum", math.abs(a), rows, false);
  const Value norm = onnx.reduce("ReduceMax", sums, rest, false);
  const Value two = onnx.scalar(2, DType::kFloat64);
  const Value magnitude = onnx.div(onnx.log(norm), onnx.scalar(std::log(2.0), DType::kFloat64));
  const Value halvings = onnx.clip(onnx.ceil(magnitude), onnx.zero(DType::kFloat64),
                                   onnx.scalar(1000, DType::kFloat64));
  const Value scale = onnx.pow(two, onnx.neg(halvings));
  const Parts small = taylor(onnx, math.mul(a, {scale, {}}));
  const Looped found =
      repeat(onnx, onnx.cast(halvings, DType::kInt64), {small}, [&](Value, const State& state) {
        return Stepped{{math.matmul(state[0], state[0])}, {}, {}};
      });
  return {as_result(call, onnx, found.last[0])};
}

// From left to right; complex ones among them.
Outputs chain(const Call& call, Emit& onnx, std::string_view name) {
  const ComplexMath math(onnx);
  std::optional<Parts> product;
  for (const Value factor : call.tensors(name)) {
    const Parts next = parts_of(onnx, factor);
    product = product ? math.matmul(*product, next) : next;
  }
  return {joined(onnx, *product)};
}
Outputs multi_dot(const Call& call, Emit& onnx) { return chain(call, onnx, "tensors"); }
Outputs chain_matmul(const Call& call, Emit& onnx) { return chain(call, onnx, "matrices"); }

Outputs linalg_matmul(const Call& call, Emit& onnx) {
  return {joined(onnx, ComplexMath(onnx).matmul(parts_of(onnx, call.tensor("self")),
                                                parts_of(onnx, call.tensor("other"))))};
}

Outputs linalg_vecdot(const Call& call, Emit& onnx) {
  const ComplexMath math(onnx);
  const DType dtype = base::real_of(call.result_dtype());
  const Parts x = parts_of_operand(call, onnx, "x", dtype);
  const Parts products = math.mul(math.conj(x), parts_of_operand(call, onnx, "y", dtype));
  const std::int64_t axis = call.axis("dim", products.real.rank());
  return {joined(onnx, each_part(products, [&](Value part) {
                   return onnx.reduce("ReduceSum", part, {&axis, 1}, false);
                 }))};
}

Outputs trace(const Call& call, Emit& onnx) {
  const Value self = onnx.cast(call.tensor("self"), call.result_dtype());
  const Value mask = identity_mask(onnx, self.dim(0), self.dim(1));
  const std::vector<std::int64_t> axes = {0, 1};
  const Value kept = onnx.where(mask, self, onnx.zero(self.dtype()));
  return {onnx.reduce("ReduceSum", kept, axes, false)};
}

constexpr Row kRows[] = {
    {"aten::linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor", linalg_vecdot},
    {"aten::chain_matmul(Tensor[] matrices) -> Tensor", chain_matmul},
    {"aten::linalg_matmul(Tensor self, Tensor other) -> Tensor", linalg_matmul},
    {"aten::linalg_matrix_exp(Tensor self) -> Tensor", matrix_exp},
    {"aten::linalg_matrix_power(Tensor self, int n) -> Tensor", matrix_power},
    {"aten::linalg_multi_dot(Tensor[] tensors) -> Tensor", multi_dot},
    {"aten::matrix_exp(Tensor self) -> Tensor", matrix_exp},
    {"aten::matrix_power(Tensor self, int n) -> Tensor", matrix_power},
    {"aten::trace(Tensor self) -> Tensor", trace},
};

}  // namespace

std::span<const Row> matrix_function_rows() { return kRows; }

}  // namespace sardonyx::aten
