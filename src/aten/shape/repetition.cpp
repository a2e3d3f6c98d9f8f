// The same elements several times over, or in another order: repeat, tile, flip, roll.
#include <limits>

#include "aten/families.h"

namespace sardonyx::aten {
namespace {

// Tiles x, with leading axes of size 1 where there are more counts than axes.
Value tiled(Emit& onnx, Value x, std::vector<Expr> counts) {
  const auto rank = static_cast<std::int64_t>(counts.size());
  if (rank < x.rank()) {
    counts.insert(counts.begin(), static_cast<std::size_t>(x.rank() - rank), Expr(1));
  }
  x = onnx.with_rank(x, static_cast<std::int64_t>(counts.size()));
  if (counts.empty()) return x;
  return onnx.tile(x, onnx.sizes(counts));
}

Outputs repeat(const Call& call, Emit& onnx) {
  return {tiled(onnx, call.tensor("self"), call.sizes("repeats"))};
}

Outputs tile(const Call& call, Emit& onnx) {
  return {tiled(onnx, call.tensor("self"), call.sizes("dims"))};
}

// Each element several times in a row: a new axis behind it, spread and merged.
Outputs repeat_interleave_int(const Call& call, Emit& onnx) {
  Value x = call.tensor("self");
  if (!call.has("dim") || x.rank() == 0) x = onnx.flatten_to_1d(x);
  const std::int64_t axis =
      call.has("dim") && call.tensor("self").rank() > 0 ? call.axis("dim", x.rank()) : 0;
  Shape spread = x.shape();
  spread.insert(spread.begin() + axis + 1, call.size("repeats"));
  return {onnx.reshape(onnx.expand(onnx.unsqueeze(x, {axis + 1}), spread), call.result_shape())};
}

// For each position of the result, which element stands there: ones are added where an element's
// stretch begins (several where stretches before are empty), and their running sum counts.
Value stretched_indices(Emit& onnx, Value repeats) {
  const Value lengths = onnx.cast(repeats, DType::kInt64);
  const std::vector<std::int64_t> axes = {0};
  const Value ends = onnx.cumsum(lengths, onnx.int_scalar(0));
  const Value begins = onnx.sub(ends, lengths);
  const Value total = onnx.reduce("ReduceSum", lengths, axes, true);
  const Value zeros = onnx.expand(onnx.int_scalar(0), onnx.add(total, onnx.ints({1})));
  const Value ones = onnx.full(lengths.shape(), onnx.int_scalar(1));
  const Value marks = onnx.scatter_elements(zeros, begins, ones, {.axis = 0, .reduction = "add"});
  const Value counted = onnx.cumsum(onnx.slice(marks, 0, 0, -1), onnx.int_scalar(0));
  return onnx.sub(counted, onnx.int_scalar(1));
}

Outputs repeat_interleave_tensor(const Call& call, Emit& onnx) {
  return {cast_to_result(onnx, call, stretched_indices(onnx, call.tensor("repeats")))};
}

// Each element as many times as its own number says; a single number goes for all.
Outputs repeat_interleave_self(const Call& call, Emit& onnx) {
  Value x = call.tensor("self");
  const bool flat = !call.has("dim") || x.rank() == 0;
  if (flat) x = onnx.flatten_to_1d(x);
  const std::int64_t axis = flat ? 0 : call.axis("dim", x.rank());
  const Value repeats = onnx.expand(onnx.flatten_to_1d(call.tensor("repeats")), Shape{x.dim(axis)});
  return {onnx.gather(x, stretched_indices(onnx, repeats), {.axis = axis})};
}

Outputs flip(const Call& call, Emit& onnx) {
  Value x = call.tensor("self");
  if (x.rank() == 0) return {x};
  for (const std::int64_t axis : call.axes("dims", x.rank())) {
    x = onnx.slice(x, axis, -1, std::numeric_limits<std::int64_t>::min(), -1);
  }
  return {x};
}

// The last `shift` elements of an axis come to its front.
Value rolled(Emit& onnx, Value x, std::int64_t axis, Expr shift) {
  const Expr size = x.dim(axis);
  if (shift.is(0)) return x;
  constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
  if (size.is(0)) return x;
  // A shift may be larger than a size that is known at run time only.
  const Expr divisor = size.is_constant() ? size : symbolic::max(size, 1);
  const Expr split = size - symbolic::mod(shift, divisor);
  return onnx.concat({onnx.slice(x, axis, split, kEnd), onnx.slice(x, axis, 0, split)}, axis);
}

Outputs roll(const Call& call, Emit& onnx) {
  Value x = call.tensor("self");
  const std::vector<Expr> shifts = call.sizes("shifts");
  const std::vector<std::int64_t> axes = call.axes("dims", x.rank());
  if (x.rank() == 0) return {x};
  if (axes.empty()) {
    const Value flat = rolled(onnx, onnx.flatten_to_1d(x), 0, shifts.front());
    return {onnx.reshape(flat, x.shape())};
  }
  for (std::size_t i = 0; i < axes.size(); ++i) x = rolled(onnx, x, axes[i], shifts[i]);
  return {x};
}

constexpr Row kRows[] = {
    {"aten::repeat_interleave.Tensor(Tensor repeats, *, SymInt? output_size=None) -> Tensor",
     repeat_interleave_tensor},
    {"aten::repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, SymInt? "
     "output_size=None) -> Tensor",
     repeat_interleave_self},
    {"aten::flip(Tensor self, int[] dims) -> Tensor", flip},
    {"aten::repeat(Tensor self, SymInt[] repeats) -> Tensor", repeat},
    {"aten::repeat_interleave.self_int(Tensor self, SymInt repeats, int? dim=None, *, SymInt? "
     "output_size=None) -> Tensor",
     repeat_interleave_int},
    {"aten::roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor", roll},
    {"aten::tile(Tensor self, SymInt[] dims) -> Tensor", tile},
};

}  // namespace

std::span<const Row> repetition_rows() { return kRows; }

}  // namespace sardonyx::aten
