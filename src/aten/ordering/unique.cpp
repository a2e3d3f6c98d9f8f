// Distinct elements or slices, where each one went, and how often it is there.
//
// By sorting and comparing neighbors: unlike ONNX's Unique it takes every type, and keeps NaNs
// apart as PyTorch does.
#include <limits>
#include <numeric>

#include "aten/families.h"
#include "aten/ordering/ordering.h"

namespace sardonyx::aten {
namespace {

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();

// What stands once for each run: the run's number for each element, how long each is.
struct Runs {
  Value starts;   // bool [n]
  Value numbers;  // int64 [n]
};

Runs runs_from(Emit& onnx, Value starts) {
  const Value counted = onnx.cumsum(onnx.cast(starts, DType::kInt64), onnx.int_scalar(0));
  return {starts, onnx.sub(counted, onnx.int_scalar(1))};
}

Value run_lengths(Emit& onnx, const Runs& runs) {
  const Expr count = runs.starts.dim(0);
  const Value index = onnx.range(count);
  const Value begins = onnx.compress(index, runs.starts, {.axis = 0});
  const Value bounds = onnx.concat({begins, onnx.sizes({count})}, 0);
  return onnx.sub(onnx.slice(bounds, 0, 1, kEnd), begins);
}

// Numbers of sorted elements put where the elements came from.
Value unsorted(Emit& onnx, Value numbers, Value order) {
  const Value zeros = onnx.full(numbers.shape(), onnx.int_scalar(0));
  return onnx.scatter_elements(zeros, order, numbers, {.axis = 0});
}

Value nothing(Emit& onnx) { return onnx.full(Shape{0}, onnx.int_scalar(0)); }

bool asked(const Call& call, std::string_view name) {
  return call.captured().schema->find(name) && call.flag(name);
}

// --- all elements

Outputs unique(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const Ordered sorted = in_order(onnx, onnx.flatten_to_1d(self), 0);
  const Runs runs = runs_from(onnx, starts_run(onnx, sorted.values, 0));
  const Value values = onnx.compress(sorted.values, runs.starts, {.axis = 0});
  const Value inverse =
      asked(call, "return_inverse")
          ? onnx.reshape(unsorted(onnx, runs.numbers, sorted.indices), self.shape())
          : nothing(onnx);
  if (call.output_count() == 2) return {values, inverse};
  return {values, inverse, asked(call, "return_counts") ? run_lengths(onnx, runs) : nothing(onnx)};
}

// --- slices of an axis, as rows

Value rows_of(Emit& onnx, Value x, std::int64_t axis) {
  const Value front = onnx.swap_axes(x, 0, axis);
  const Expr count = x.dim(axis);
  Expr width = 1;
  for (std::int64_t i = 1; i < front.rank(); ++i) width = width * front.dim(i);
  return onnx.reshape(front, {count, width});
}

// The distinct rows back in the shape of x, the axis shortened.
Value slices_of(Emit& onnx, Value rows, Value x, std::int64_t axis, Expr kept) {
  if (x.rank() == 2) return onnx.swap_axes(rows, 0, axis);
  Shape shape = x.shape();
  std::swap(shape[0], shape[static_cast<std::size_t>(axis)]);
  shape.front() = kept;
  return onnx.swap_axes(onnx.reshape(rows, shape), 0, axis);
}

Value row_starts(Emit& onnx, Value rows) {
  const Expr count = rows.dim(0);
  const std::vector<std::int64_t> across = {1};
  const Value same = onnx.equal(onnx.slice(rows, 0, 1, count), onnx.slice(rows, 0, 0, count - 1));
  const Value differing =
      onnx.reduce("ReduceSum", onnx.cast(onnx.not_(same), DType::kInt32), across, false);
  const Value differs = onnx.greater(differing, onnx.zero(DType::kInt32));
  const Value first = onnx.full(Shape{1}, onnx.bool_scalar(true));
  // No rows have no first one.
  const Value starts = onnx.slice(onnx.concat({first, differs}, 0), 0, 0, count);
  if (!starts.is_constant()) Emit::set_type(starts, DType::kBool, Shape{count});
  return starts;
}

// The order of rows by their first element, then their second, ...: stable sorts from the last
// column to the first.
Value row_order(Emit& onnx, Value rows) {
  const Expr count = rows.dim(0);
  const Value start = onnx.range(count);
  const Value last = onnx.sub(onnx.size(rows.dim(1)), onnx.int_scalar(1));
  onnx::Graph* body = onnx.begin_body("sort_by_column");
  const Value step = onnx.body_input("step", DType::kInt64, {});
  const Value condition = onnx.body_input("condition", DType::kBool, {});
  const Value order = onnx.body_input("order", DType::kInt64, start.shape());
  const Value column = onnx.gather(rows, onnx.sub(last, step), {.axis = 1});
  const Value next = in_order(onnx, onnx.gather(column, order), 0).indices;
  const Value results[] = {onnx.identity(condition), onnx.gather(order, next)};
  onnx.end_body(results);
  const Value initial[] = {start};
  return onnx.loop(onnx.size(rows.dim(1)), onnx.bool_scalar(true), initial, body).front();
}

Outputs distinct_rows(const Call& call, Emit& onnx, Value x, std::int64_t axis, bool sorts) {
  Value rows = rows_of(onnx, x, axis), order;
  if (sorts) {
    order = row_order(onnx, rows);
    rows = onnx.gather(rows, order);
  }
  const Runs runs = runs_from(onnx, row_starts(onnx, rows));
  const Value kept = onnx.compress(rows, runs.starts, {.axis = 0});
  const Expr count = call.result_shape()[static_cast<std::size_t>(axis)];
  if (count.is_unbacked()) onnx.add_size_source(kept, 0, count);
  const Value numbers = sorts ? unsorted(onnx, runs.numbers, order) : runs.numbers;
  return {slices_of(onnx, kept, x, axis, count),
          call.flag("return_inverse") ? numbers : nothing(onnx),
          call.flag("return_counts") ? run_lengths(onnx, runs) : nothing(onnx)};
}

Outputs unique_dim(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  return distinct_rows(call, onnx, self, call.axis("dim", self.rank()), true);
}

Outputs unique_dim_consecutive(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  // PyTorch puts all of the tensor's sizes behind the last one then, and all that follows in the
  // program goes by them.
  if (call.result_rank() != self.rank()) {
    call.refuse("PyTorch captures a wrong shape for dim=-1",
                "write dim=" + std::to_string(self.rank() - 1));
  }
  return distinct_rows(call, onnx, self, call.axis("dim", self.rank()), false);
}

Outputs unique_consecutive(const Call& call, Emit& onnx) {
  if (call.has("dim")) return unique_dim_consecutive(call, onnx);
  const Value self = call.tensor("self");
  const Value x = onnx.flatten_to_1d(self);
  const Runs runs = runs_from(onnx, starts_run(onnx, x, 0));
  return {onnx.compress(x, runs.starts, {.axis = 0}),
          call.flag("return_inverse") ? onnx.reshape(runs.numbers, self.shape()) : nothing(onnx),
          call.flag("return_counts") ? run_lengths(onnx, runs) : nothing(onnx)};
}

constexpr Row kRows[] = {
    {"aten::_unique(Tensor self, bool sorted=True, bool return_inverse=False) -> (Tensor, Tensor)",
     unique},
    {"aten::_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool "
     "return_counts=False) -> (Tensor, Tensor, Tensor)",
     unique},
    {"aten::unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, "
     "int? dim=None) -> (Tensor, Tensor, Tensor)",
     unique_consecutive},
    {"aten::unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, bool "
     "return_counts=False) -> (Tensor, Tensor, Tensor)",
     unique_dim},
    {"aten::unique_dim_consecutive(Tensor self, int dim, bool return_inverse=False, bool "
     "return_counts=False) -> (Tensor, Tensor, Tensor)",
     unique_dim_consecutive},
};

}  // namespace

std::span<const Row> unique_rows() { return kRows; }

}  // namespace sardonyx::aten
