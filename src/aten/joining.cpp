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

constexpr Row kRows[] = {
    {"aten::cat(Tensor[] tensors, int dim=0) -> Tensor", 13, cat},
    {"aten::column_stack(Tensor[] tensors) -> Tensor", 13, column_stack},
    {"aten::concat(Tensor[] tensors, int dim=0) -> Tensor", 13, cat},
    {"aten::concatenate(Tensor[] tensors, int dim=0) -> Tensor", 13, cat},
    {"aten::dstack(Tensor[] tensors) -> Tensor", 13, dstack},
    {"aten::hstack(Tensor[] tensors) -> Tensor", 13, hstack},
    {"aten::row_stack(Tensor[] tensors) -> Tensor", 13, vstack},
    {"aten::stack(Tensor[] tensors, int dim=0) -> Tensor", 13, stack},
    {"aten::vstack(Tensor[] tensors) -> Tensor", 13, vstack},
};

}  // namespace

std::span<const Row> joining_rows() { return kRows; }

}  // namespace sardonyx::aten
