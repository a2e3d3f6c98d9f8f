// Products of tensors along chosen axes: kron, tensordot, cross, bilinear.
#include <algorithm>
#include <numeric>

#include "aten/elementwise/operands.h"
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

using Axes = std::vector<std::int64_t>;

Value in_result_type(const Call& call, Emit& onnx, std::string_view name) {
  return onnx.cast(call.tensor(name), call.result_dtype());
}

// Each axis of one beside that of the other, multiplied, and merged with it.
Outputs kron(const Call& call, Emit& onnx) {
  const std::int64_t rank = call.result_rank();
  const Value a = onnx.with_rank(in_result_type(call, onnx, "self"), rank);
  const Value b = onnx.with_rank(in_result_type(call, onnx, "other"), rank);
  Axes behind, before;
  for (std::int64_t i = 0; i < rank; ++i) {
    behind.push_back(2 * i + 1);
    before.push_back(2 * i);
  }
  const Value x = onnx.unsqueeze(a, behind), y = onnx.unsqueeze(b, before);
  const Value product = x.dtype() == DType::kBool ? onnx.and_(x, y) : onnx.mul(x, y);
  return {onnx.reshape(product, call.result_shape())};
}

Expr product_of(Value x, const Axes& axes) {
  Expr count = 1;
  for (const std::int64_t axis : axes) count = count * x.dim(axis);
  return count;
}

Axes others(std::int64_t rank, const Axes& axes) {
  Axes rest;
  for (std::int64_t i = 0; i < rank; ++i) {
    if (std::ranges::find(axes, i) == axes.end()) rest.push_back(i);
  }
  return rest;
}

Axes joined(Axes first, const Axes& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// One matrix product: the contracted axes last in the first operand and first in the second.
// Axes of size 1 are summed away before, as PyTorch lets them stand opposite longer ones.
Outputs tensordot(const Call& call, Emit& onnx) {
  Value a = in_result_type(call, onnx, "self"), b = in_result_type(call, onnx, "other");
  const Axes of_a = call.axes("dims_self", a.rank()), of_b = call.axes("dims_other", b.rank());
  for (std::size_t i = 0; i < of_a.size(); ++i) {
    const Axes in_a = {of_a[i]}, in_b = {of_b[i]};
    const bool one_a = a.dim(of_a[i]).is(1), one_b = b.dim(of_b[i]).is(1);
    if (one_a && !one_b) b = onnx.reduce("ReduceSum", b, in_b, true);
    if (one_b && !one_a) a = onnx.reduce("ReduceSum", a, in_a, true);
  }
  const Axes rest_a = others(a.rank(), of_a), rest_b = others(b.rank(), of_b);
  const Value x = onnx.reshape(onnx.transpose(a, joined(rest_a, of_a)),
                               {product_of(a, rest_a), product_of(a, of_a)});
  const Value y = onnx.reshape(onnx.transpose(b, joined(of_b, rest_b)),
                               {product_of(b, of_b), product_of(b, rest_b)});
  return {onnx.reshape(onnx.matmul(x, y), call.result_shape())};
}

// a x b: (a1 b2 - a2 b1, a2 b0 - a0 b2, a0 b1 - a1 b0) along an axis of three.
Value cross_along(const Call& call, Emit& onnx, std::int64_t axis) {
  const auto turned = [&](std::string_view name, std::initializer_list<std::int64_t> order) {
    const Value x = onnx.expand(in_result_type(call, onnx, name), call.result_shape());
    return onnx.gather(x, onnx.ints(order), {.axis = axis});
  };
  const Value first = onnx.mul(turned("self", {1, 2, 0}), turned("other", {2, 0, 1}));
  const Value second = onnx.mul(turned("self", {2, 0, 1}), turned("other", {1, 2, 0}));
  return onnx.sub(first, second);
}

Outputs linalg_cross(const Call& call, Emit& onnx) {
  return {cross_along(call, onnx, call.axis("dim", call.result_rank()))};
}

// Without a dim the first one of size 3.
Outputs cross(const Call& call, Emit& onnx) {
  if (call.has("dim")) return linalg_cross(call, onnx);
  const Value self = call.tensor("self");
  for (std::int64_t axis = 0; axis < self.rank(); ++axis) {
    if (self.dim(axis).is(3)) return {cross_along(call, onnx, axis)};
  }
  call.refuse("a cross product without a dimension that is known to be 3", "give dim=");
}

// y[.., o] = sum over i, j of x1[.., i] * w[o, i, j] * x2[.., j]: x1 against w as a matrix, then a
// sum over j.
Outputs bilinear(const Call& call, Emit& onnx) {
  const Value x = call.tensor("input1"), y = call.tensor("input2"), w = call.tensor("weight");
  const Expr outputs = w.dim(0), left = w.dim(1), right = w.dim(2);
  Expr rows = 1;
  for (std::int64_t i = 0; i + 1 < x.rank(); ++i) rows = rows * x.dim(i);
  const Value matrix = onnx.reshape(onnx.transpose(w, {1, 0, 2}), {left, outputs * right});
  const Value product = onnx.matmul(onnx.reshape(x, {rows, left}), matrix);
  const Value by_output = onnx.reshape(product, {rows, outputs, right});
  const Value column = onnx.reshape(y, {rows, right, 1});
  Value z = onnx.reshape(onnx.matmul(by_output, column), call.result_shape());
  if (call.has("bias")) z = onnx.add(z, call.tensor("bias"));
  return {z};
}

// The product of three tensors that have new axes put in, summed over axes. An axis that is new in
// all three has no elements in PyTorch, so that nothing is left, or sums of nothing.
Outputs trilinear(const Call& call, Emit& onnx) {
  const Axes first = call.integers("expand1"), second = call.integers("expand2"),
             third = call.integers("expand3");
  const auto is_new = [](const Axes& axes, std::int64_t axis) {
    return std::ranges::find(axes, axis) != axes.end();
  };
  if (std::ranges::any_of(
          first, [&](std::int64_t axis) { return is_new(second, axis) && is_new(third, axis); })) {
    return {onnx.expand(onnx.zero(call.result_dtype()), call.result_shape())};
  }
  const auto factor = [&](std::string_view name, std::string_view expand) {
    return onnx.unsqueeze(call.tensor(name), call.integers(expand));
  };
  const Value product =
      onnx.mul(onnx.mul(factor("i1", "expand1"), factor("i2", "expand2")), factor("i3", "expand3"));
  const Axes axes = call.axes("sumdim", product.rank());
  return {onnx.reduce("ReduceSum", product, axes, false)};
}

constexpr Row kRows[] = {
    {"aten::_trilinear(Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] expand2, int[] "
     "expand3, int[] sumdim, int unroll_dim=1) -> Tensor",
     trilinear},
    {"aten::bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor",
     bilinear},
    {"aten::cross(Tensor self, Tensor other, int? dim=None) -> Tensor", cross},
    {"aten::kron(Tensor self, Tensor other) -> Tensor", kron},
    {"aten::linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor", linalg_cross},
    {"aten::tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor",
     tensordot},
};

}  // namespace

std::span<const Row> products_rows() { return kRows; }

}  // namespace sardonyx::aten
