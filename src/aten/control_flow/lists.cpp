// Lists of tensors with a data-dependent length, or with elements of different sizes: ONNX's
// sequences.
#include "aten/control_flow/body_operands.h"
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

Value list_of(const Call& call, Emit& onnx) {
  return body_operand(call, onnx, call.argument("list"));
}

Outputs construct(const Call& call, Emit& onnx) {
  const std::vector<Value> items = call.tensors("items");
  if (!items.empty()) return {onnx.sequence_construct(items)};
  return {onnx.sequence_empty({.dtype = call.dtype("dtype")})};
}

// Parts of one length; the last may be shorter.
Outputs split(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const Value size = onnx.size(call.size("size"));
  return {onnx.split_to_sequence(self, size, {.axis = call.axis("dim", self.rank())})};
}

// The slices of the first axis, which goes.
Outputs unbind(const Call& call, Emit& onnx) {
  return {onnx.split_to_sequence(call.tensor("self"), {}, {.axis = 0, .keepdims = 0})};
}

Value position(const Call& call, Emit& onnx) {
  return call.has("at") ? onnx.size(call.size("at")) : Value();
}

Outputs insert(const Call& call, Emit& onnx) {
  return {onnx.sequence_insert(list_of(call, onnx), call.tensor("item"), position(call, onnx))};
}

Outputs erase(const Call& call, Emit& onnx) {
  return {onnx.sequence_erase(list_of(call, onnx), position(call, onnx))};
}

Outputs get(const Call& call, Emit& onnx) {
  return {onnx.sequence_at(list_of(call, onnx), position(call, onnx))};
}

Outputs length(const Call& call, Emit& onnx) { return {onnx.sequence_length(list_of(call, onnx))}; }

Outputs join(const Call& call, Emit& onnx) {
  return {onnx.concat_from_sequence(
      list_of(call, onnx),
      {.axis = call.integer("dim"), .new_axis = call.flag("new_axis") ? 1 : 0})};
}

constexpr Row kRows[] = {
    {"list::construct(Tensor[] items, ScalarType dtype) -> Any", construct},
    {"list::erase(Any list, SymInt at) -> Any", erase},
    {"list::get(Any list, SymInt at) -> Any", get},
    {"list::insert(Any list, Tensor item, SymInt? at=None) -> Any", insert},
    {"list::join(Any list, int dim, bool new_axis) -> Any", join},
    {"list::length(Any list) -> Any", length},
    {"list::split(Tensor self, SymInt size, int dim) -> Any", split},
    {"list::unbind(Tensor self) -> Any", unbind},
};

}  // namespace

std::span<const Row> list_rows() { return kRows; }

}  // namespace sardonyx::aten
