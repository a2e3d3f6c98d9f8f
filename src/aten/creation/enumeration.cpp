// Lists of places and of choices: tril_indices, triu_indices, combinations, cartesian_prod.
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

// NonZero of a mask, row by row: one row of the result an axis.
Outputs triangle_indices(const Call& call, Emit& onnx, bool upper) {
  const Value row = onnx.unsqueeze(onnx.range(call.integer("row")), {1});
  const Value column = onnx.range(call.integer("col"));
  const Value diagonal = onnx.add(row, onnx.int_scalar(call.integer("offset")));
  const Value inside =
      upper ? onnx.greater_or_equal(column, diagonal) : onnx.less_or_equal(column, diagonal);
  const Value found = onnx.nonzero(inside);
  // How many there are follows from the arguments; the runtime need not find out.
  Emit::set_type(found, DType::kInt64, call.result_shape());
  return {onnx.cast(found, call.result_dtype())};
}

Outputs tril_indices(const Call& call, Emit& onnx) { return triangle_indices(call, onnx, false); }
Outputs triu_indices(const Call& call, Emit& onnx) { return triangle_indices(call, onnx, true); }

// The places [i, j, ...] of an r-dimensional mask where i < j < ... (or <= with replacement), in
// order.
Outputs combinations(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const std::int64_t r = call.integer("r");
  if (r == 0) return {onnx.full(Shape{0}, onnx.zero(self.dtype()))};
  const bool again = call.flag("with_replacement");
  const Value index = onnx.range(self.dim(0));
  Value mask = onnx.full(Shape(static_cast<std::size_t>(r), self.dim(0)), onnx.bool_scalar(true));
  const auto along = [&](std::int64_t axis) {
    Shape shape(static_cast<std::size_t>(r), 1);
    shape[static_cast<std::size_t>(axis)] = self.dim(0);
    return onnx.reshape(index, shape);
  };
  for (std::int64_t axis = 0; axis + 1 < r; ++axis) {
    const Value a = along(axis), b = along(axis + 1);
    mask = onnx.and_(mask, again ? onnx.less_or_equal(a, b) : onnx.less(a, b));
  }
  const Value places = onnx.swap_axes(onnx.nonzero(mask), 0, 1);
  return {onnx.reshape(onnx.gather(self, places), call.result_shape())};
}

// Each tensor along an axis of its own, spread over the others'.
Outputs cartesian_prod(const Call& call, Emit& onnx) {
  const std::vector<Value> tensors = call.tensors("tensors");
  if (tensors.size() == 1) return {tensors.front()};
  Shape whole;
  Expr count = 1;
  for (const Value tensor : tensors) {
    whole.push_back(tensor.dim(0));
    count = count * tensor.dim(0);
  }
  std::vector<Value> columns;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    Shape along(tensors.size(), 1);
    along[i] = whole[i];
    const Value spread = onnx.expand(onnx.reshape(tensors[i], along), whole);
    columns.push_back(onnx.reshape(spread, {count, 1}));
  }
  return {onnx.concat(columns, 1)};
}

constexpr Row kRows[] = {
    {"aten::cartesian_prod(Tensor[] tensors) -> Tensor", cartesian_prod},
    {"aten::combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor",
     combinations},
    {"aten::tril_indices(int row, int col, int offset=0, *, ScalarType? dtype=4, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     tril_indices},
    {"aten::triu_indices(int row, int col, int offset=0, *, ScalarType? dtype=4, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     triu_indices},
};

}  // namespace

std::span<const Row> enumeration_rows() { return kRows; }

}  // namespace sardonyx::aten
