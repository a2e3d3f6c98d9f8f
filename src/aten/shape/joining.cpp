// Several tensors made one: cat, stack and their kin.
#include <algorithm>

#include "aten/families.h"

namespace sardonyx::aten {
namespace {

// PyTorch skips 1-d empty tensors of any other rank's company.
bool legacy_empty(Value x, std::int64_t rank) {
  return rank != 1 && x.rank() == 1 && x.dim(0).is(0);
}

Value joined(const Call& call, Emit& onnx, std::vector<Value> parts, std::int64_t axis) {
  for (Value& part : parts) part = cast_to_result(onnx, call, part);
  return parts.size() == 1 ? parts.front() : onnx.concat(parts, axis);
}

Outputs cat(const Call& call, Emit& onnx) {
  std::vector<Value> parts = call.tensors("tensors");
  const std::int64_t rank = call.result_rank();
  std::erase_if(parts, [&](Value part) { return legacy_empty(part, rank); });
  if (parts.empty()) return {onnx.full(call.result_shape(), onnx.zero(call.result_dtype()))};
  return {joined(call, onnx, std::move(parts), call.axis("dim", rank))};
}

Outputs stack(const Call& call, Emit& onnx) {
  std::vector<Value> parts = call.tensors("tensors");
  const std::int64_t axis = call.axis("dim", call.result_rank());
  for (Value& part : parts) part = onnx.unsqueeze(part, {axis});
  return {joined(call, onnx, std::move(parts), axis)};
}

// Sequences [length, ...] of their own lengths, side by side.
Outputs pad_sequence(const Call& call, Emit& onnx) {
  std::vector<Value> parts = call.tensors("sequences");
  const std::int64_t along = call.flag("batch_first") ? 1 : 0;
  const Expr longest = call.result_shape()[static_cast<std::size_t>(along)];
  const Value padding =
      scalar_value(onnx, Scalar(call.number("padding_value")), call.result_dtype());
  for (Value& part : parts) {
    part = cast_to_result(onnx, call, part);
    Shape rest = part.shape();
    rest.front() = longest - rest.front();
    if (!rest.front().is(0)) {
      const Value filled = onnx.full(rest, padding);
      part = onnx.concat(call.text("padding_side") == "left" ? std::vector<Value>{filled, part}
                                                             : std::vector<Value>{part, filled},
                         0);
    }
    part = onnx.unsqueeze(part, {1 - along});
  }
  return {joined(call, onnx, std::move(parts), 1 - along)};
}

// hstack, vstack, dstack: each part gets at least this many axes first.
Outputs stack_along(const Call& call, Emit& onnx, std::int64_t least_rank, std::int64_t axis) {
  std::vector<Value> parts = call.tensors("tensors");
  for (Value& part : parts) {
    if (part.rank() >= least_rank) continue;
    if (part.rank() == 0) part = onnx.unsqueeze(part, {0});
    if (part.rank() == 1 && least_rank >= 2) part = onnx.unsqueeze(part, {0});
    if (part.rank() == 2 && least_rank == 3) part = onnx.unsqueeze(part, {2});
  }
  return {joined(call, onnx, std::move(parts), axis)};
}

Outputs hstack(const Call& call, Emit& onnx) {
  return stack_along(call, onnx, 1, call.result_rank() == 1 ? 0 : 1);
}
Outputs vstack(const Call& call, Emit& onnx) { return stack_along(call, onnx, 2, 0); }
Outputs dstack(const Call& call, Emit& onnx) { return stack_along(call, onnx, 3, 2); }

Outputs column_stack(const Call& call, Emit& onnx) {
  std::vector<Value> parts = call.tensors("tensors");
  for (Value& part : parts) {
    if (part.rank() <= 1) part = onnx.reshape(part, {part.element_count(), 1});
  }
  return {joined(call, onnx, std::move(parts), 1)};
}

// Each tensor in so many chunks along the axis, the last ones filled up with zeros: they are a new
// axis, and the rest of each chunk is flattened and stands beside that of the other tensors.
Outputs chunk_cat(const Call& call, Emit& onnx) {
  std::vector<Value> parts = call.tensors("tensors");
  const std::int64_t chunks = call.integer("num_chunks");
  const std::int64_t axis = call.axis("dim", parts.front().rank());
  for (Value& part : parts) {
    const Expr size = part.dim(axis), length = symbolic::ceil_div(size, chunks);
    Shape fill = part.shape();
    fill[static_cast<std::size_t>(axis)] = length * chunks - size;
    const Value filled = onnx.concat({part, onnx.full(fill, onnx.zero(part.dtype()))}, axis);
    Shape shape(part.shape().begin(), part.shape().begin() + axis);
    Expr rest = length;
    for (std::int64_t i = axis + 1; i < part.rank(); ++i) rest = rest * part.dim(i);
    shape.emplace_back(chunks);
    shape.push_back(rest);
    part = onnx.reshape(filled, shape);
  }
  return {joined(call, onnx, std::move(parts), axis + 1)};
}

constexpr Row kRows[] = {
    {"aten::_chunk_cat(Tensor[] tensors, int dim, int num_chunks) -> Tensor", chunk_cat},
    {"aten::cat(Tensor[] tensors, int dim=0) -> Tensor", cat},
    {"aten::column_stack(Tensor[] tensors) -> Tensor", column_stack},
    {"aten::concat(Tensor[] tensors, int dim=0) -> Tensor", cat},
    {"aten::concatenate(Tensor[] tensors, int dim=0) -> Tensor", cat},
    {"aten::dstack(Tensor[] tensors) -> Tensor", dstack},
    {"aten::hstack(Tensor[] tensors) -> Tensor", hstack},
    {"aten::row_stack(Tensor[] tensors) -> Tensor", vstack},
    {"aten::pad_sequence(Tensor[] sequences, bool batch_first=False, float padding_value=0., str "
     "padding_side=\"right\") -> Tensor",
     pad_sequence},
    {"aten::stack(Tensor[] tensors, int dim=0) -> Tensor", stack},
    {"aten::vstack(Tensor[] tensors) -> Tensor", vstack},
};

}  // namespace

std::span<const Row> joining_rows() { return kRows; }

}  // namespace sardonyx::aten
