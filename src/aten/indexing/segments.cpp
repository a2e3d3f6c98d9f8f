// Reductions over consecutive segments of an axis, given by lengths or by offsets.
#include <cmath>
#include <limits>
#include <optional>

#include "aten/elementwise/operands.h"
#include "aten/families.h"
#include "aten/indexing/scattering.h"
#include "aten/ordering/ordering.h"

namespace sardonyx::aten {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Reduction {
  std::string_view scatter;  // what ScatterElements calls it
  double start;
};

Reduction reduction_of(const Call& call) {
  const std::string name = call.text("reduce");
  if (name == "sum" || name == "mean") return {"add", 0};
  if (name == "prod") return {"mul", 1};
  if (name == "max") return {"max", -kInfinity};
  if (name == "min") return {"min", kInfinity};
  call.refuse("segment_reduce with reduce='" + name + "'");
}

// Where segments begin, and where the last one ends: int64 [..., segments + 1].
Value offsets_of(const Call& call, Emit& onnx) {
  if (call.has("offsets")) return onnx.cast(call.tensor("offsets"), DType::kInt64);
  if (!call.has("lengths")) call.refuse("segment_reduce by indices", "give lengths or offsets");
  const Value lengths = onnx.cast(call.tensor("lengths"), DType::kInt64);
  const Value ends = onnx.cumsum(lengths, onnx.int_scalar(lengths.rank() - 1));
  return onnx.concat({onnx.sub(onnx.slice(ends, -1, 0, 1), onnx.slice(lengths, -1, 0, 1)), ends},
                     -1);
}

// The row that each element of `data` goes to: 0 before the first segment, then the segments, and
// one more for what is behind the last.
Value rows_of(Emit& onnx, Value data, Value offsets, std::int64_t axis) {
  Shape lead(data.shape().begin(), data.shape().begin() + axis + 1);
  const Value places = onnx.expand(onnx.range(data.dim(axis)), lead);
  Value rows = insertion_points(onnx, offsets, places, /*right=*/true);
  std::vector<std::int64_t> trailing;
  for (std::int64_t i = axis + 1; i < data.rank(); ++i) trailing.push_back(i);
  return onnx.expand(onnx.unsqueeze(rows, trailing), data.shape());
}

// Along the axis, without the rows before and behind.
Value gathered(Emit& onnx, Value start, Value rows, Value updates, std::int64_t axis,
               std::string_view reduction, Expr segments) {
  const Value all = scatter_combined(onnx, start, rows, updates, axis, reduction);
  return onnx.slice(all, axis, 1, segments + 1);
}

// How many elements the segments have, in line with the result.
Value counts(Emit& onnx, Value offsets, Expr segments, std::int64_t axis, Value like) {
  const Value ends = onnx.slice(offsets, axis, 1, segments + 1);
  Value sizes = onnx.sub(ends, onnx.slice(offsets, axis, 0, segments));
  std::vector<std::int64_t> trailing;
  for (std::int64_t i = axis + 1; i < like.rank(); ++i) trailing.push_back(i);
  return onnx.cast(onnx.unsqueeze(sizes, trailing), like.dtype());
}

Outputs segment_reduce(const Call& call, Emit& onnx) {
  const DType dtype = computing_type(call.result_dtype());
  const Value data = onnx.cast(call.tensor("data"), dtype);
  const std::int64_t axis = call.axis("axis", data.rank());
  const Reduction reduction = reduction_of(call);
  const bool mean = call.text("reduce") == "mean";
  const Expr segments = call.result_shape()[static_cast<std::size_t>(axis)];
  const Value offsets = offsets_of(call, onnx);
  const Value rows = rows_of(onnx, data, offsets, axis);
  const std::optional<Scalar> initial = call.optional_scalar("initial");
  Shape wide = call.result_shape();
  wide[static_cast<std::size_t>(axis)] = segments + 2;
  const Value first =
      initial ? scalar_value(onnx, *initial, dtype) : onnx.scalar(reduction.start, dtype);
  Value result =
      gathered(onnx, onnx.full(wide, first), rows, data, axis, reduction.scatter, segments);
  if (mean) {
    const Value count = counts(onnx, offsets, segments, axis, result);
    const Value empty = onnx.equal(count, onnx.zero(dtype));
    const Value none = initial ? result : onnx.scalar(std::nan(""), dtype);
    result = onnx.where(empty, none, onnx.div(result, count));
  }
  return {cast_to_result(onnx, call, result)};
}

constexpr Row kRows[] = {
    {"aten::segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, "
     "Tensor? offsets=None, int axis=0, bool unsafe=False, Scalar? initial=None) -> Tensor",
     segment_reduce},
};

}  // namespace

std::span<const Row> segments_rows() { return kRows; }

}  // namespace sardonyx::aten
