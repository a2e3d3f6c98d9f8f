// Gradients of padding by reflection and by repetition of the edge, and of windows along an axis:
// each element of the result hands its own to the element that it was read from.
#include "aten/elementwise/operands.h"
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

// The elements of an axis of this size that padding reads, `place` counting from its first: int64.
using Read = Value (*)(Emit& onnx, Value place, Expr size);

Value nearest_inside(Emit& onnx, Value place, Expr size) {
  return onnx.clip(place, onnx.int_scalar(0), onnx.size(size - 1));
}

// There and back: padding is shorter than the axis.
Value reflected_inside(Emit& onnx, Value place, Expr size) {
  const Value last = onnx.size(size - 1);
  return onnx.sub(last, onnx.abs(onnx.sub(last, onnx.abs(place))));
}

// Sums the elements of an axis of the gradient that were read from the same place of one of this
// size.
Value summed_by_source(Emit& onnx, Value grad, std::int64_t axis, Value source, Expr size) {
  const Value first = onnx.swap_axes(grad, axis, 0);
  Shape shape = first.shape();
  shape.front() = size;
  const Value zeros = onnx.full(shape, onnx.zero(grad.dtype()));
  const Value sums =
      onnx.scatter_nd(zeros, onnx.unsqueeze(source, {1}), first, {.reduction = "add"});
  return onnx.swap_axes(sums, axis, 0);
}

// ONNX Runtime adds no half types.
template <class Sum>
Outputs in_computing_type(const Call& call, Emit& onnx, std::string_view name, const Sum& sum) {
  const Value grad = call.tensor(name);
  return {onnx.cast(sum(onnx.cast(grad, computing_type(grad.dtype()))), grad.dtype())};
}

// `padding` lists (before, after) from the last axis backwards.
Value unpadded(const Call& call, Emit& onnx, Value grad, Read read) {
  const Value self = call.tensor("self");
  const std::vector<Expr> padding = call.sizes("padding");
  for (std::size_t i = 0; i + 1 < padding.size(); i += 2) {
    if (padding[i].is(0) && padding[i + 1].is(0)) continue;
    const std::int64_t axis = self.rank() - 1 - static_cast<std::int64_t>(i / 2);
    const Value place = onnx.sub(onnx.range(grad.dim(axis)), onnx.size(padding[i]));
    const Expr size = self.dim(axis);
    grad = summed_by_source(onnx, grad, axis, read(onnx, place, size), size);
  }
  return grad;
}

Outputs replication(const Call& call, Emit& onnx) {
  return in_computing_type(call, onnx, "grad_output",
                           [&](Value grad) { return unpadded(call, onnx, grad, nearest_inside); });
}

Outputs reflection(const Call& call, Emit& onnx) {
  return in_computing_type(call, onnx, "grad_output", [&](Value grad) {
    return unpadded(call, onnx, grad, reflected_inside);
  });
}

// Of windows of `size` elements along `dim`, `step` apart, whose elements are the last axis.
Value put_together(const Call& call, Emit& onnx, Value grad) {
  const Shape sizes = call.sizes("input_sizes");
  if (sizes.empty()) return onnx.squeeze(grad, {0});
  const std::int64_t axis = call.axis("dim", static_cast<std::int64_t>(sizes.size()));
  const Expr windows = grad.dim(axis);
  const Value start = onnx.mul(onnx.range(windows), onnx.int_scalar(call.integer("step")));
  const Value places = onnx.add(onnx.unsqueeze(start, {1}), onnx.range(call.integer("size")));
  // [..., windows, ..., size] -> [..., windows * size, ...]
  std::vector<std::int64_t> order;
  for (std::int64_t i = 0; i + 1 < grad.rank(); ++i) {
    order.push_back(i);
    if (i == axis) order.push_back(grad.rank() - 1);
  }
  Shape flat = sizes;
  flat[static_cast<std::size_t>(axis)] = windows * call.integer("size");
  const Value elements = onnx.reshape(onnx.transpose(grad, order), flat);
  return summed_by_source(onnx, elements, axis, onnx.flatten_to_1d(places),
                          sizes[static_cast<std::size_t>(axis)]);
}

Outputs unfold_backward(const Call& call, Emit& onnx) {
  return in_computing_type(call, onnx, "grad_in",
                           [&](Value grad) { return put_together(call, onnx, grad); });
}

constexpr Row kRows[] = {
    {"aten::reflection_pad1d_backward(Tensor grad_output, Tensor self, SymInt[2] padding) -> "
     "Tensor",
     reflection},
    {"aten::reflection_pad2d_backward(Tensor grad_output, Tensor self, SymInt[4] padding) -> "
     "Tensor",
     reflection},
    {"aten::reflection_pad3d_backward(Tensor grad_output, Tensor self, SymInt[6] padding) -> "
     "Tensor",
     reflection},
    {"aten::replication_pad1d_backward(Tensor grad_output, Tensor self, SymInt[2] padding) -> "
     "Tensor",
     replication},
    {"aten::replication_pad2d_backward(Tensor grad_output, Tensor self, SymInt[4] padding) -> "
     "Tensor",
     replication},
    {"aten::replication_pad3d_backward(Tensor grad_output, Tensor self, SymInt[6] padding) -> "
     "Tensor",
     replication},
    {"aten::unfold_backward(Tensor grad_in, SymInt[] input_sizes, int dim, int size, int step) -> "
     "Tensor",
     unfold_backward},
};

}  // namespace

std::span<const Row> place_gradient_rows() { return kRows; }

}  // namespace sardonyx::aten
