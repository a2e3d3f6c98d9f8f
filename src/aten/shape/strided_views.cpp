// Views that step through memory: diagonals, windows and as_strided, read and written.
#include <algorithm>

#include "aten/families.h"

namespace sardonyx::aten {
namespace {

// start, start + step, ...: int64 [count].
Value positions(Emit& onnx, Expr start, Expr count, Expr step) {
  Value places = onnx.range(count);
  if (!step.is(1)) places = onnx.mul(places, onnx.size(step));
  return start.is(0) ? places : onnx.add(places, onnx.size(start));
}

std::vector<std::int64_t> inverse(const std::vector<std::int64_t>& order) {
  std::vector<std::int64_t> result(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    result[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  return result;
}

// --- diagonals

// A matrix in the last two dimensions, laid out in one: the diagonal is every (columns + 1)-th
// element from `start` on.
struct Diagonal {
  std::vector<std::int64_t> order;  // of the dimensions; the matrix's two come last
  Shape matrices;                   // the shape in that order
  Shape flat;                       // with the last two as one
  Expr start, count, step;
};

Diagonal diagonal_of(const Call& call, Value self, Expr count) {
  Diagonal result;
  const std::int64_t rank = self.rank();
  const std::int64_t first = call.axis("dim1", rank), second = call.axis("dim2", rank);
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    if (axis != first && axis != second) result.order.push_back(axis);
  }
  result.order.insert(result.order.end(), {first, second});
  for (const std::int64_t axis : result.order) result.matrices.push_back(self.dim(axis));
  result.flat.assign(result.matrices.begin(), result.matrices.end() - 2);
  result.flat.push_back(self.dim(first) * self.dim(second));
  const Expr columns = self.dim(second);
  const std::int64_t offset = call.integer("offset");
  result.start = offset >= 0 ? Expr(offset) : Expr(-offset) * columns;
  result.count = count;
  result.step = columns + 1;
  return result;
}

Value flattened(Emit& onnx, Value self, const Diagonal& diagonal) {
  return onnx.reshape(onnx.transpose(self, diagonal.order), diagonal.flat);
}

Outputs diagonal_read(const Call& call, Emit& onnx, Value self) {
  const Diagonal diagonal = diagonal_of(call, self, call.result_shape().back());
  const Value flat = flattened(onnx, self, diagonal);
  if (diagonal.step.is_constant()) {
    const Expr end = diagonal.start + diagonal.count * diagonal.step;
    return {onnx.slice(flat, flat.rank() - 1, diagonal.start, end, diagonal.step.value())};
  }
  const Value places = positions(onnx, diagonal.start, diagonal.count, diagonal.step);
  return {onnx.gather(flat, places, {.axis = flat.rank() - 1})};
}

Outputs diagonal(const Call& call, Emit& onnx) {
  return diagonal_read(call, onnx, call.tensor("self"));
}

Outputs linalg_diagonal(const Call& call, Emit& onnx) {
  return diagonal_read(call, onnx, call.tensor("A"));
}

Outputs diagonal_scatter(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const Value source = onnx.cast(call.tensor("src"), self.dtype());
  const Diagonal diagonal = diagonal_of(call, self, source.dim(source.rank() - 1));
  const Value flat = flattened(onnx, self, diagonal);
  const Value places = positions(onnx, diagonal.start, diagonal.count, diagonal.step);
  const Value written = onnx.scatter_elements(flat, onnx.expand(places, source.shape()), source,
                                              {.axis = flat.rank() - 1});
  return {onnx.transpose(onnx.reshape(written, diagonal.matrices), inverse(diagonal.order))};
}

// --- as_strided

// Where the elements of the strided view lie in memory: int64, of the view's shape.
Value strided_positions(const Call& call, Emit& onnx) {
  const std::vector<Expr> sizes = call.sizes("size"), strides = call.sizes("stride");
  const auto rank = static_cast<std::int64_t>(sizes.size());
  Value places = onnx.size(call.optional_size("storage_offset").value_or(0));
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    const auto at = static_cast<std::size_t>(axis);
    const Value steps = onnx.mul(onnx.range(sizes[at]), onnx.size(strides[at]));
    std::vector<std::int64_t> others;
    for (std::int64_t i = 1; i < rank - axis; ++i) others.push_back(i);
    places = onnx.add(places, onnx.unsqueeze(steps, others));
  }
  return places;
}

// The dimensions of a tensor in the order in which it lies in memory. A view with gaps is refused:
// what lies in between is not known.
std::vector<std::int64_t> memory_order(const Call& call, const program::Value& tensor) {
  std::vector<std::int64_t> order;
  const auto rank = static_cast<std::int64_t>(tensor.shape.size());
  Expr expected = 1;
  for (std::int64_t i = rank; i-- > 0;) {
    if (tensor.strides.empty()) order.push_back(i);
  }
  while (static_cast<std::int64_t>(order.size()) < rank) {
    const std::size_t before = order.size();
    for (std::int64_t axis = rank; axis-- > 0;) {
      if (std::find(order.begin(), order.end(), axis) != order.end()) continue;
      const auto at = static_cast<std::size_t>(axis);
      if (!(tensor.strides[at] == expected) && !tensor.shape[at].is(1)) continue;
      order.push_back(axis);
      expected = expected * tensor.shape[at];
      break;
    }
    if (order.size() == before) {
      const std::string name(call.captured().schema->base_name());
      call.refuse(name + " of '" + tensor.name + "', itself a view of a part of its memory",
                  "call contiguous() or clone() before " + name + "()");
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

// The elements of `self` as they lie in memory.
Value memory_of(const Call& call, Emit& onnx) {
  const std::vector<std::int64_t> order = memory_order(call, call.captured_tensor("self"));
  return onnx.flatten_to_1d(onnx.transpose(call.tensor("self"), order));
}

Outputs as_strided(const Call& call, Emit& onnx) {
  return {onnx.gather(memory_of(call, onnx), strided_positions(call, onnx), {.axis = 0})};
}

// The same memory in another shape. What it has to grow by holds anything in PyTorch, zeros here.
Outputs resize(const Call& call, Emit& onnx) {
  const std::vector<std::int64_t> order = memory_order(call, *call.captured().outputs.at(0));
  const Expr wanted = symbolic::product(call.result_shape()),
             has = call.tensor("self").element_count();
  Value memory = memory_of(call, onnx);
  if (!(wanted == has)) {
    const Value rest = onnx.full(Shape{wanted}, onnx.zero(memory.dtype()));
    memory = onnx.slice(onnx.concat({memory, rest}, 0), 0, 0, wanted);
  }
  Shape laid_out;
  for (const std::int64_t axis : order) {
    laid_out.push_back(call.result_shape()[static_cast<std::size_t>(axis)]);
  }
  return {onnx.transpose(onnx.reshape(memory, laid_out), inverse(order))};
}

Outputs as_strided_scatter(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const Value source = onnx.flatten_to_1d(onnx.cast(call.tensor("src"), self.dtype()));
  const std::vector<std::int64_t> order = memory_order(call, call.captured_tensor("self"));
  const Value memory = onnx.transpose(self, order);
  const Value places = onnx.flatten_to_1d(strided_positions(call, onnx));
  const Value written =
      onnx.scatter_elements(onnx.flatten_to_1d(memory), places, source, {.axis = 0});
  return {onnx.transpose(onnx.reshape(written, memory.shape()), inverse(order))};
}

// --- unfold

// Windows of `size` elements, `step` apart, along a dimension; a window is the last dimension.
Outputs unfold(const Call& call, Emit& onnx) {
  Value self = call.tensor("self");
  const Expr size = call.size("size"), step = call.size("step");
  const bool scalar = self.rank() == 0;
  if (scalar) self = onnx.unsqueeze(self, {0});
  const std::int64_t axis = call.axis("dimension", self.rank());
  const Expr count = scalar ? Expr(1) : call.result_shape()[static_cast<std::size_t>(axis)];
  const Value starts = onnx.unsqueeze(positions(onnx, 0, count, step), {1});
  const Value places = onnx.add(starts, positions(onnx, 0, size, 1));
  const Value windows = onnx.gather(self, places, {.axis = axis});
  if (scalar) return {onnx.reshape(windows, call.result_shape())};
  std::vector<std::int64_t> order;
  for (std::int64_t i = 0; i <= self.rank(); ++i) {
    if (i != axis + 1) order.push_back(i);
  }
  order.push_back(axis + 1);
  return {onnx.transpose(windows, order)};
}

constexpr Row kRows[] = {
    {"aten::as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? "
     "storage_offset=None) -> Tensor(a)",
     as_strided},
    {"aten::as_strided_copy(Tensor self, SymInt[] size, SymInt[] stride, SymInt? "
     "storage_offset=None) -> Tensor",
     as_strided},
    {"aten::as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, SymInt? "
     "storage_offset=None) -> Tensor",
     as_strided_scatter},
    {"aten::diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)", diagonal},
    {"aten::diagonal_copy(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor", diagonal},
    {"aten::diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> "
     "Tensor",
     diagonal_scatter},
    {"aten::linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a)",
     linalg_diagonal},
    {"aten::resize(Tensor self, SymInt[] size, *, MemoryFormat? memory_format=None) -> Tensor",
     resize},
    {"aten::resize_as(Tensor self, Tensor the_template, *, MemoryFormat? memory_format=None) -> "
     "Tensor",
     resize},
    {"aten::unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)", unfold},
    {"aten::unfold_copy(Tensor self, int dimension, int size, int step) -> Tensor", unfold},
};

}  // namespace

std::span<const Row> strided_view_rows() { return kRows; }

}  // namespace sardonyx::aten
