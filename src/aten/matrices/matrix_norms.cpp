// Norms of matrices and condition numbers.
#include <cmath>
#include <limits>

#include "aten/families.h"
#include "aten/matrices/singular_values.h"

namespace sardonyx::aten {
namespace {

enum class Kind : std::uint8_t { kFrobenius, kNuclear, kOrder };

// "fro", "nuc", or a number: 1 and infinity sum columns and rows, 2 is the largest singular value;
// negative ones take the least.
struct Order {
  Kind kind = Kind::kFrobenius;
  double number = 2;
};

Order order_named(const Call& call, const std::string& name) {
  if (name == "fro") return {Kind::kFrobenius, 2};
  if (name == "nuc") return {Kind::kNuclear, 2};
  call.refuse("a matrix norm " + name);
}

Value over(Emit& onnx, std::string_view op, Value x, std::int64_t axis) {
  return onnx.reduce(op, x, {&axis, 1}, false);
}

// PyTorch lets NaNs win.
Value extreme(Emit& onnx, Value x, bool least) {
  const Value found = over(onnx, least ? "ReduceMin" : "ReduceMax", x, 1);
  const Value sum = over(onnx, "ReduceSum", x, 1);
  return onnx.where(onnx.is_nan(sum), sum, found);
}

// Of a batch [batch, m, n]; float64 [batch].
Value norm_of(Emit& onnx, const Parts& a, const Order& order) {
  const ComplexMath math(onnx);
  const std::vector<std::int64_t> matrix = {1, 2};
  if (order.kind == Kind::kFrobenius) {
    return onnx.sqrt(onnx.reduce("ReduceSum", math.squared_abs(a), matrix, false));
  }
  if (order.kind == Kind::kNuclear) return over(onnx, "ReduceSum", singular_values(onnx, a), 1);
  const bool least = order.number < 0;
  if (std::abs(order.number) == 2) {
    return over(onnx, least ? "ReduceMin" : "ReduceMax", singular_values(onnx, a), 1);
  }
  const bool rows = std::isinf(order.number);
  return extreme(onnx, over(onnx, "ReduceSum", math.abs(a), rows ? 2 : 1), least);
}

// The two axes of a matrix moved to the end.
Parts matrices_along(const Call& call, Emit& onnx, std::vector<std::int64_t> axes) {
  const Parts x = wide_matrix(call, onnx, "self");
  std::vector<std::int64_t> order;
  for (std::int64_t axis = 0; axis < x.real.rank(); ++axis) {
    if (axis != axes[0] && axis != axes[1]) order.push_back(axis);
  }
  order.insert(order.end(), axes.begin(), axes.end());
  return as_batch(onnx, each_part(x, [&](Value part) { return onnx.transpose(part, order); }));
}

Outputs matrix_norm(const Call& call, Emit& onnx, const std::vector<std::int64_t>& axes,
                    const Order& order) {
  const Parts a = matrices_along(call, onnx, axes);
  if (is_empty(a)) {
    return {onnx.full(call.result_shape(), onnx.zero(base::real_of(call.result_dtype())))};
  }
  return {as_result(call, onnx, {norm_of(onnx, a, order), {}})};
}

Order given_order(const Call& call, std::string_view name) {
  const program::Argument& argument = call.argument(name);
  if (argument.get<std::string>()) return order_named(call, call.text(name));
  if (argument.is_none()) return {};
  const double number = call.scalar(name).as_double();
  const bool known = std::abs(number) == 1 || std::abs(number) == 2 || std::isinf(number);
  if (!known) call.refuse("a matrix norm of order " + std::to_string(number));
  return {Kind::kOrder, number};
}

Outputs linalg_matrix_norm(const Call& call, Emit& onnx) {
  const std::int64_t rank = parts_of(onnx, call.tensor("self")).real.rank();
  return matrix_norm(call, onnx, call.axes("dim", rank), given_order(call, "ord"));
}

Outputs nuclear_norm(const Call& call, Emit& onnx) {
  const std::int64_t rank = parts_of(onnx, call.tensor("self")).real.rank();
  const bool named = call.captured().schema->find("dim").has_value();
  const std::vector<std::int64_t> axes =
      named ? call.axes("dim", rank) : std::vector<std::int64_t>{rank - 2, rank - 1};
  return matrix_norm(call, onnx, axes, {Kind::kNuclear, 2});
}

// (sum |x|^p)^(1/p) over axes, in float64.
Outputs vector_norm(const Call& call, Emit& onnx, const std::vector<std::int64_t>& axes,
                    double order) {
  const Value size = ComplexMath(onnx).abs(wide_matrix(call, onnx, "self"));
  const auto all = [&](std::string_view op, Value x) {
    return axes.empty() ? x : onnx.reduce(op, x, axes, false);
  };
  const auto number = [&](double value) { return onnx.scalar(value, DType::kFloat64); };
  Value norm;
  if (std::isinf(order)) {
    const Value sum = all("ReduceSum", size);
    norm = onnx.where(onnx.is_nan(sum), sum, all(order > 0 ? "ReduceMax" : "ReduceMin", size));
  } else if (order == 0) {
    const Value zero = onnx.equal(size, number(0));
    norm = all("ReduceSum", onnx.cast(onnx.not_(zero), DType::kFloat64));
  } else if (order == 1) {
    norm = all("ReduceSum", size);
  } else if (order == 2) {
    norm = onnx.sqrt(all("ReduceSum", onnx.mul(size, size)));
  } else {
    const Value powers = all("ReduceSum", onnx.pow(size, number(order)));
    norm = onnx.pow(powers, number(1 / order));
  }
  return {as_result(call, onnx, {norm, {}})};
}

std::vector<std::int64_t> norm_axes(const Call& call, std::int64_t rank) {
  std::vector<std::int64_t> axes = call.axes("dim", rank);
  if (!call.has("dim")) {
    for (std::int64_t axis = 0; axis < rank; ++axis) axes.push_back(axis);
  }
  if (rank == 0) axes.clear();
  return axes;
}

// Without an order all elements are one vector; with one, two axes are a matrix.
Outputs linalg_norm(const Call& call, Emit& onnx) {
  const std::int64_t rank = parts_of(onnx, call.tensor("self")).real.rank();
  const std::vector<std::int64_t> axes = norm_axes(call, rank);
  if (call.argument("ord").is_none()) return vector_norm(call, onnx, axes, 2);
  if (axes.size() == 2) return matrix_norm(call, onnx, axes, given_order(call, "ord"));
  return vector_norm(call, onnx, axes, call.scalar("ord").as_double());
}

Outputs frobenius_norm(const Call& call, Emit& onnx) {
  const std::int64_t rank = parts_of(onnx, call.tensor("self")).real.rank();
  std::vector<std::int64_t> axes = call.axes("dim", rank);
  if (axes.empty()) axes = norm_axes(call, rank);
  return vector_norm(call, onnx, axes, 2);
}

// |A| |A^-1|, infinite where A has no inverse; of order 2 the ratio of singular values.
Outputs linalg_cond(const Call& call, Emit& onnx) {
  const Parts a = as_batch(onnx, wide_matrix(call, onnx, "self"));
  if (is_empty(a)) {
    return {onnx.full(call.result_shape(), onnx.zero(base::real_of(call.result_dtype())))};
  }
  const bool none = call.argument("p").is_none();
  const Order order = none ? Order{Kind::kOrder, 2} : given_order(call, "p");
  if (order.kind == Kind::kOrder && std::abs(order.number) == 2) {
    const Value values = singular_values(onnx, a);
    const Value most = over(onnx, "ReduceMax", values, 1);
    const Value least = over(onnx, "ReduceMin", values, 1);
    const bool up = order.number > 0;
    return {as_result(call, onnx, {up ? onnx.div(most, least) : onnx.div(least, most), {}})};
  }
  const Expr n = a.real.dim(2);
  const Lu lu = lu_factors(onnx, a);
  const Parts inverse = solve_with(onnx, lu, identity_matrix(onnx, a, n, n));
  const Value product = onnx.mul(norm_of(onnx, a, order), norm_of(onnx, inverse, order));
  const Value singular = onnx.greater(first_zero_pivot(onnx, lu.packed), onnx.int_scalar(0));
  const Value infinity = onnx.scalar(std::numeric_limits<double>::infinity(), DType::kFloat64);
  return {as_result(call, onnx, {onnx.where(singular, infinity, product), {}})};
}

constexpr Row kRows[] = {
    {"aten::frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
     frobenius_norm},
    {"aten::linalg_cond(Tensor self, Scalar? p=None) -> Tensor", linalg_cond},
    {"aten::linalg_cond.p_str(Tensor self, str p) -> Tensor", linalg_cond},
    {"aten::linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2, -1], bool keepdim=False, *, "
     "ScalarType? dtype=None) -> Tensor",
     linalg_matrix_norm},
    {"aten::linalg_matrix_norm.str_ord(Tensor self, str ord=\"fro\", int[] dim=[-2, -1], bool "
     "keepdim=False, *, ScalarType? dtype=None) -> Tensor",
     linalg_matrix_norm},
    {"aten::linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, "
     "ScalarType? dtype=None) -> Tensor",
     linalg_norm},
    {"aten::linalg_norm.ord_str(Tensor self, str ord, int[1]? dim=None, bool keepdim=False, *, "
     "ScalarType? dtype=None) -> Tensor",
     linalg_norm},
    {"aten::nuclear_norm(Tensor self, bool keepdim=False) -> Tensor", nuclear_norm},
    {"aten::nuclear_norm.dim(Tensor self, int[2] dim, bool keepdim=False) -> Tensor", nuclear_norm},
};

}  // namespace

std::span<const Row> matrix_norm_rows() { return kRows; }

}  // namespace sardonyx::aten
