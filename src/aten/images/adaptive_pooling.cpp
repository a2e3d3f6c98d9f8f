// Means and maxima over cells that divide an axis as evenly as can be: cell i of n reaches from
// floor(i * size / n) up to ceil((i + 1) * size / n).
#include <algorithm>
#include <numeric>

#include "aten/elementwise/operands.h"
#include "aten/families.h"
#include "aten/images/candidates.h"
#include "aten/images/spatial.h"

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

// Whether there is any cell; what divides sizes by their number cannot have none.
bool has_cells(const Shape& cells) {
  return std::ranges::none_of(cells, [](Expr count) { return count.is(0); });
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

// The elements of each cell along an axis, [cells, longest]. Short cells go on beyond their last
// one, [cells, 1].
struct Members {
  Value places, last;
  Value counts;  // [cells]
};

Members members_of(Emit& onnx, Expr size, Expr cells) {
  const auto [start, end] = bounds_of(onnx, size, cells);
  const Value places = onnx.add(onnx.unsqueeze(start, {1}), onnx.range(longest_cell(size, cells)));
  const Value last = onnx.sub(end, onnx.int_scalar(1));
  return {places, onnx.unsqueeze(last, {1}), onnx.sub(end, start)};
}

// Whether cells of one size divide each axis of x [N, C, sizes...].
bool even(Value x, const Shape& cells) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Expr size = x.dim(2 + static_cast<std::int64_t>(i));
    if (!size.is_constant() || !cells[i].is_constant()) return false;
    if (cells[i].value() < 1 || size.value() < 1) return false;
    if (size.value() % cells[i].value() != 0) return false;
  }
  return true;
}

// The size of such cells.
Ints64 even_kernel(Value x, const Shape& cells) {
  Ints64 kernel;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    kernel.push_back(x.dim(2 + static_cast<std::int64_t>(i)).value() / cells[i].value());
  }
  return kernel;
}

// The mean of each cell along one axis. Summed one by one: a product with weights would let NaN and
// infinity into the cells beside their own.
Value cell_means(Emit& onnx, Value x, std::int64_t axis, Expr cells) {
  const Members members = members_of(onnx, x.dim(axis), cells);
  const auto along = [&](Value v) {  // [cells, ...] where x has its axis
    Ints64 behind(static_cast<std::size_t>(x.rank() - 1 - axis));
    std::iota(behind.begin(), behind.end(), v.rank());
    return onnx.unsqueeze(v, behind);
  };
  const Value places = onnx.min({members.places, members.last});
  const Value inside = onnx.less_or_equal(members.places, members.last);
  const Value read =
      onnx.where(along(inside), onnx.gather(x, places, {.axis = axis}), onnx.zero(x.dtype()));
  const Ints64 elements = {axis + 1};
  const Value sums = onnx.reduce("ReduceSum", read, elements, /*keep_dims=*/false);
  return onnx.div(sums, onnx.cast(along(members.counts), x.dtype()));
}

// Of x [N, C, sizes...].
Value averaged(Emit& onnx, Value x, const Shape& cells) {
  const auto axes = static_cast<std::int64_t>(cells.size());
  Ints64 whole;
  for (std::int64_t i = 0; i < axes; ++i) {
    if (cells[static_cast<std::size_t>(i)].is(1)) whole.push_back(2 + i);
  }
  if (static_cast<std::int64_t>(whole.size()) == axes) return onnx.global_average_pool(x);
  if (even(x, cells)) {
    const Ints64 kernel = even_kernel(x, cells);
    return onnx.average_pool(x, {.kernel_shape = kernel, .strides = kernel});
  }
  if (!whole.empty()) x = onnx.reduce("ReduceMean", x, whole, /*keep_dims=*/true);
  for (std::int64_t i = 0; i < axes; ++i) {
    const Expr wanted = cells[static_cast<std::size_t>(i)];
    if (!wanted.is(1) && !(x.dim(2 + i) == wanted)) x = cell_means(onnx, x, 2 + i, wanted);
  }
  return x;
}

Outputs adaptive_avg_pool(const Call& call, Emit& onnx) {
  const Shape cells = cell_counts(call);
  if (!has_cells(cells)) {
    return {onnx.full(call.result_shape(), onnx.zero(call.result_dtype()))};
  }
  const Value wide = onnx.cast(call.tensor("self"), computing_type(call.result_dtype()));
  const auto rank = static_cast<std::int64_t>(cells.size()) + 2;
  return batched(onnx, wide, rank, [&](Value x) {
    return Outputs{cast_to_result(onnx, call, averaged(onnx, x, cells))};
  });
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
    const Members members = members_of(onnx, size, count);
    const Value position = onnx.min({members.places, members.last});
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
    elements = elements * longest_cell(size, count);
  }
  plane.push_back(elements);
  shape.insert(shape.end(), plane.begin(), plane.end());
  return {onnx.reshape(onnx.transpose(x, order), shape), onnx.reshape(places, plane)};
}

// Of x [N, C, sizes...]; cells of one size are the windows of a MaxPool.
Outputs largest(const Call& call, Emit& onnx, Value x, const Shape& counts) {
  if (!call.uses_output(1) && even(x, counts)) {
    const Ints64 kernel = even_kernel(x, counts);
    return {onnx.max_pool(x, {.kernel_shape = kernel, .strides = kernel}), {}};
  }
  const Cells cells = cells_of(onnx, x, counts);
  const Best best = best_of(onnx, cells.candidates);
  const Value places = onnx.expand(cells.places, cells.candidates.shape());
  const Value chosen = onnx.unsqueeze(best.indices, {-1});
  return {best.values, onnx.squeeze(onnx.gather_elements(places, chosen, {.axis = -1}), {-1})};
}

Outputs adaptive_max_pool(const Call& call, Emit& onnx) {
  const Shape counts = cell_counts(call);
  const auto rank = static_cast<std::int64_t>(counts.size()) + 2;
  return batched(onnx, call.tensor("self"), rank,
                 [&](Value x) { return largest(call, onnx, x, counts); });
}

constexpr Row kRows[] = {
    {"aten::_adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor", adaptive_avg_pool},
    {"aten::_adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor", adaptive_avg_pool},
    {"aten::adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor", adaptive_avg_pool},
    {"aten::adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor", adaptive_avg_pool},
    {"aten::adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor", adaptive_avg_pool},
    {"aten::adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor, Tensor)",
     adaptive_max_pool},
    {"aten::adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, Tensor)",
     adaptive_max_pool},
    {"aten::adaptive_max_pool3d(Tensor self, int[3] output_size) -> (Tensor, Tensor)",
     adaptive_max_pool},
};

}  // namespace

std::span<const Row> adaptive_pooling_rows() { return kRows; }

}  // namespace sardonyx::aten
