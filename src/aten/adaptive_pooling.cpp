// Means and maxima over cells that divide an axis as evenly as can be: cell i of n reaches from
// floor(i * size / n) up to ceil((i + 1) * size / n).
#include <algorithm>
#include <numeric>

#include "aten/candidates.h"
#include "aten/families.h"
#include "aten/lattice.h"
#include "aten/operands.h"

namespace sardonyx::aten {
namespace {

using Ints64 = std::vector<std::int64_t>;

// Sizes of the result's spatial axes, the last ones of a tensor that may lack a batch.
Shape cell_counts(const Call& call) {
  Shape cells = call.sizes("output_size");
  const std::string name = call.op();
  const auto axes = static_cast<std::size_t>(name[name.find("_pool") + 5] - '0');
  if (cells.size() == 1) cells.resize(axes, cells.front());
  return cells;
}

struct Bounds {
  Value start, end;  // int64 [cells]
};

Bounds bounds_of(Emit& onnx, Expr size, Expr cells) {
  const Value cell = onnx.range(cells), number = onnx.size(cells);
  const Value total = onnx.size(size);
  const Value next = onnx.mul(onnx.add(cell, onnx.int_scalar(1)), total);
  return {onnx.div(onnx.mul(cell, total), number),
          onnx.div(onnx.add(next, onnx.size(cells - 1)), number)};
}

// The mean of each cell as a product with a matrix [size, cells].
Value cell_weights(Emit& onnx, Expr size, Expr cells, DType dtype) {
  const auto [start, end] = bounds_of(onnx, size, cells);
  const Value element = onnx.unsqueeze(onnx.range(size), {1});
  const Value inside = onnx.and_(onnx.greater_or_equal(element, start), onnx.less(element, end));
  return onnx.div(onnx.cast(inside, dtype), onnx.cast(onnx.sub(end, start), dtype));
}

// Whether there is any cell; what divides sizes by their number cannot have none.
bool has_cells(const Shape& cells) {
  return std::ranges::none_of(cells, [](Expr count) { return count.is(0); });
}

Outputs adaptive_avg_pool(const Call& call, Emit& onnx) {
  if (!has_cells(cell_counts(call))) {
    return {onnx.full(call.result_shape(), onnx.zero(call.result_dtype()))};
  }
  Value x = onnx.cast(call.tensor("self"), computing_type(call.result_dtype()));
  const Shape cells = cell_counts(call);
  const auto axes = static_cast<std::int64_t>(cells.size());
  Ints64 whole;
  for (std::int64_t i = 0; i < axes; ++i) {
    if (cells[static_cast<std::size_t>(i)].is(1)) whole.push_back(x.rank() - axes + i);
  }
  if (static_cast<std::int64_t>(whole.size()) == axes && x.rank() == axes + 2) {
    return {cast_to_result(onnx, call, onnx.global_average_pool(x))};
  }
  if (!whole.empty()) x = onnx.reduce("ReduceMean", x, whole, /*keep_dims=*/true);
  for (std::int64_t i = 0; i < axes; ++i) {
    const std::int64_t axis = x.rank() - axes + i;
    const Expr wanted = cells[static_cast<std::size_t>(i)];
    if (wanted.is(1) || x.dim(axis) == wanted) continue;
    const Value weights = cell_weights(onnx, x.dim(axis), wanted, x.dtype());
    // The product as [rows, size] x [size, cells]: ONNX Runtime fuses transposes into a batched
    // MatMul that it then cannot run when the ranks differ.
    const Value last = onnx.swap_axes(x, axis, -1);
    Shape shape = last.shape();
    const Value rows = onnx.reshape(
        last, {symbolic::product(std::span(shape).first(shape.size() - 1)), shape.back()});
    shape.back() = wanted;
    x = onnx.swap_axes(onnx.reshape(onnx.matmul(rows, weights), shape), axis, -1);
  }
  return {cast_to_result(onnx, call, x)};
}

// The elements of the longest cell; the most that any can have where the size is symbolic.
Expr longest_cell(Expr size, Expr cells) {
  if (cells.is(1)) return size;
  if (!size.is_constant() || !cells.is_constant()) return symbolic::ceil_div(size, cells) + 1;
  const std::int64_t n = cells.value();
  std::int64_t longest = 1;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t end = ((i + 1) * size.value() + n - 1) / n;
    longest = std::max(longest, end - i * size.value() / n);
  }
  return longest;
}

// [N, C, sizes...] -> the candidates [N, C, cells..., K] and their places in the plane
// [cells..., K], K the elements of a cell; short cells repeat their last element.
struct Cells {
  Value candidates, places;
};

Cells cells_of(Emit& onnx, Value x, const Shape& counts) {
  const auto axes = static_cast<std::int64_t>(counts.size());
  Ints64 order = {0, 1};
  Shape shape = {x.dim(0), x.dim(1)}, plane;
  Expr elements = 1;
  Value places = onnx.int_scalar(0);
  for (std::int64_t i = 0; i < axes; ++i) {
    const std::int64_t axis = 2 + 2 * i;
    const Expr count = counts[static_cast<std::size_t>(i)], size = x.dim(axis);
    const Expr length = longest_cell(size, count);
    const auto [start, end] = bounds_of(onnx, size, count);
    const Value offset = onnx.add(onnx.unsqueeze(start, {1}), onnx.range(length));
    const Value last = onnx.unsqueeze(onnx.sub(end, onnx.int_scalar(1)), {1});
    const Value position = onnx.min({offset, last});  // [count, length]
    x = onnx.gather(x, position, {.axis = axis});
    // In the plane [counts..., lengths...] this axis varies along i and axes + i.
    Ints64 others;
    for (std::int64_t j = 0; j < 2 * axes; ++j) {
      if (j != i && j != axes + i) others.push_back(j);
    }
    const Value along = onnx.unsqueeze(position, others);
    places = onnx.add(onnx.mul(places, onnx.size(size)), along);
    order.insert(order.begin() + 2 + static_cast<std::ptrdiff_t>(i), axis);
    order.push_back(axis + 1);
    plane.push_back(count);
    elements = elements * length;
  }
  plane.push_back(elements);
  shape.insert(shape.end(), plane.begin(), plane.end());
  return {onnx.reshape(onnx.transpose(x, order), shape), onnx.reshape(places, plane)};
}

// Cells of one size are the windows of a MaxPool.
bool even(Value x, const Shape& cells) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Expr size = x.dim(2 + static_cast<std::int64_t>(i));
    if (!size.is_constant() || !cells[i].is_constant()) return false;
    if (cells[i].value() < 1 || size.value() < 1) return false;
    if (size.value() % cells[i].value() != 0) return false;
  }
  return true;
}

Outputs adaptive_max_pool(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const Shape counts = cell_counts(call);
  const bool unbatched = self.rank() == static_cast<std::int64_t>(counts.size()) + 1;
  const Value x = unbatched ? onnx.unsqueeze(self, {0}) : self;
  Value values, indices;
  if (!call.uses_output(1) && even(x, counts)) {
    Ints64 kernel;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      kernel.push_back(x.dim(2 + static_cast<std::int64_t>(i)).value() / counts[i].value());
    }
    values = onnx.max_pool(x, {.kernel_shape = kernel, .strides = kernel});
  } else {
    const Cells cells = cells_of(onnx, x, counts);
    const Best best = best_of(onnx, cells.candidates);
    values = best.values;
    const Value places = onnx.expand(cells.places, cells.candidates.shape());
    const Value chosen = onnx.unsqueeze(best.indices, {-1});
    indices = onnx.squeeze(onnx.gather_elements(places, chosen, {.axis = -1}), {-1});
  }
  if (unbatched) {
    values = onnx.squeeze(values, {0});
    if (indices) indices = onnx.squeeze(indices, {0});
  }
  return {values, indices};
}

constexpr Row kRows[] = {
    {"aten::_adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor", 13,
     adaptive_avg_pool},
    {"aten::_adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor", 13,
     adaptive_avg_pool},
    {"aten::adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor", 13, adaptive_avg_pool},
    {"aten::adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor", 13,
     adaptive_avg_pool},
    {"aten::adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor", 13,
     adaptive_avg_pool},
    {"aten::adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor, Tensor)", 13,
     adaptive_max_pool},
    {"aten::adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, Tensor)", 13,
     adaptive_max_pool},
    {"aten::adaptive_max_pool3d(Tensor self, int[3] output_size) -> (Tensor, Tensor)", 13,
     adaptive_max_pool},
};

}  // namespace

std::span<const Row> adaptive_pooling_rows() { return kRows; }

}  // namespace sardonyx::aten
