#include "aten/indexing/index_plan.h"

#include <algorithm>

namespace sardonyx::aten {
namespace {

bool is_mask(Value index) {
  return index.dtype() == DType::kBool || index.dtype() == DType::kUInt8;
}

// A size that depends on the data is the one in the result that nothing has made yet.
Expr unmade_size(Emit& onnx, const Shape& result_shape) {
  for (const Expr dim : result_shape) {
    if (dim.known() && !onnx.can_size(dim)) return dim;
  }
  return {};
}

// The coordinates of what is true, one index tensor for each axis that the mask covers.
void add_mask(const Call& call, Emit& onnx, Value mask, std::int64_t axis,
              const Shape& result_shape, std::vector<AxisIndex>& indices) {
  if (mask.rank() == 0) {
    call.refuse("indexing with a 0-d mask", "use torch.where, or a mask with an axis");
  }
  const Value found = onnx.nonzero(onnx.cast(mask, DType::kBool));
  // What is written may be of any size that broadcasts: the count has no name there.
  Expr count = unmade_size(onnx, result_shape);
  if (!count.known()) {
    count = onnx.pool().fresh("u_mask");
    onnx.pool().mark_unbacked(count);
  }
  onnx.add_size_source(found, 1, count);
  for (std::int64_t i = 0; i < mask.rank(); ++i) {
    indices.push_back({axis + i, onnx.select(found, 0, i), {count}});
  }
}

}  // namespace

Shape broadcast_shapes(const Shape& a, const Shape& b) {
  Shape result(std::max(a.size(), b.size()), Expr(1));
  for (std::size_t i = 0; i < result.size(); ++i) {
    const Expr x = i < a.size() ? a[a.size() - 1 - i] : Expr(1);
    const Expr y = i < b.size() ? b[b.size() - 1 - i] : Expr(1);
    // A size that depends on the data gives way to a known one; it may turn out to be 1.
    const bool second = x.is(1) || (!x.is_constant() && y.is_constant() && !y.is(1));
    result[result.size() - 1 - i] = second ? y : x;
  }
  return result;
}

std::vector<AxisIndex> axis_indices(const Call& call, Emit& onnx, const Shape& result_shape) {
  std::vector<AxisIndex> indices;
  std::int64_t axis = 0;
  for (const Value index : call.optional_tensors("indices")) {
    if (!index) {
      ++axis;
    } else if (is_mask(index)) {
      add_mask(call, onnx, index, axis, result_shape, indices);
      axis += index.rank();
    } else {
      indices.push_back({axis, onnx.cast(index, DType::kInt64), index.shape()});
      ++axis;
    }
  }
  return indices;
}

IndexPlan plan_index(Emit& onnx, const std::vector<AxisIndex>& indices, std::int64_t self_rank) {
  IndexPlan plan;
  for (const AxisIndex& index : indices) {
    plan.axes.push_back(index.axis);
    plan.index_shape = broadcast_shapes(plan.index_shape, index.shape);
  }
  std::vector<Value> columns;
  for (const AxisIndex& index : indices) {
    Value column = index.index;
    if (index.shape != plan.index_shape) column = onnx.expand(column, plan.index_shape);
    columns.push_back(onnx.unsqueeze(column, {-1}));
  }
  plan.coordinates = columns.size() == 1 ? columns.front() : onnx.concat(columns, -1);
  const auto count = static_cast<std::int64_t>(plan.axes.size());
  const bool adjacent = plan.axes.back() - plan.axes.front() + 1 == count;
  plan.position = adjacent ? plan.axes.front() : 0;
  plan.to_front = plan.axes;
  for (std::int64_t axis = 0; axis < self_rank; ++axis) {
    if (std::ranges::find(plan.axes, axis) == plan.axes.end()) plan.to_front.push_back(axis);
  }
  return plan;
}

}  // namespace sardonyx::aten
