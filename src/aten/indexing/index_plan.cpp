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

// The same, or a new one: what is written may be of any size that broadcasts, and its count has no
// name there.
Expr unmade_or_new_size(Emit& onnx, const Shape& result_shape) {
  Expr count = unmade_size(onnx, result_shape);
  if (count.known()) return count;
  count = onnx.pool().fresh("u_mask");
  onnx.pool().mark_unbacked(count);
  return count;
}

// The coordinates of what is true, one index tensor for each axis that the mask covers.
void add_mask(const Call& call, Emit& onnx, Value mask, std::int64_t axis,
              const Shape& result_shape, std::vector<AxisIndex>& indices) {
  if (mask.rank() == 0) {
    call.refuse("indexing with a 0-d mask", "use torch.where, or a mask with an axis");
  }
  const Value found = onnx.nonzero(onnx.cast(mask, DType::kBool));
  const Expr count = unmade_or_new_size(onnx, result_shape);
  onnx.add_size_source(found, 1, count);
  for (std::int64_t i = 0; i < mask.rank(); ++i) {
    indices.push_back({axis + i, onnx.select(found, 0, i), {count}});
  }
}

// A mask that stands alone gives the result as many elements as it has true ones; several indices
// broadcast, and each mask may have one true element where another has more.
bool stands_alone(const std::vector<Value>& indices) {
  return std::ranges::count_if(indices, [](Value index) { return index && index.rank() > 0; }) <= 1;
}

// Whether a dynamic size broadcasts with another.
bool broadcasts_at_run_time(const Shape& shape, const Shape& index_shape) {
  for (std::size_t i = 1; i <= shape.size(); ++i) {
    const Expr size = shape[shape.size() - i], other = index_shape[index_shape.size() - i];
    if (size.is_unbacked() && size != other) return true;
  }
  return false;
}

// All indices as large as they broadcast to, which no shape tells before the model runs.
void broadcast_columns(Emit& onnx, const std::vector<AxisIndex>& indices, IndexPlan& plan,
                       std::vector<Value>& columns, const Shape& result_shape) {
  Value zeros;
  for (const Value column : columns) {
    const Value own = onnx.mul(column, onnx.zero(DType::kInt64));
    zeros = zeros ? onnx.add(zeros, own) : own;
  }
  for (std::size_t i = 1; i <= plan.index_shape.size(); ++i) {
    const bool is_open = std::ranges::any_of(indices, [&](const AxisIndex& index) {
      return i <= index.shape.size() && index.shape[index.shape.size() - i].is_unbacked();
    });
    Expr& size = plan.index_shape[plan.index_shape.size() - i];
    if (!is_open || (size.is_constant() && !size.is(1))) continue;
    size = unmade_or_new_size(onnx, result_shape);
    onnx.add_size_source(zeros, zeros.rank() - static_cast<std::int64_t>(i), size);
  }
  for (Value& column : columns) column = onnx.add(column, zeros);
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
  const std::vector<Value> given = call.optional_tensors("indices");
  const Shape counted = stands_alone(given) ? result_shape : Shape();
  for (const Value index : given) {
    if (!index) {
      ++axis;
    } else if (is_mask(index)) {
      add_mask(call, onnx, index, axis, counted, indices);
      axis += index.rank();
    } else {
      indices.push_back({axis, onnx.cast(index, DType::kInt64), index.shape()});
      ++axis;
    }
  }
  return indices;
}

IndexPlan plan_index(Emit& onnx, const std::vector<AxisIndex>& indices, std::int64_t self_rank,
                     const Shape& result_shape) {
  IndexPlan plan;
  for (const AxisIndex& index : indices) {
    plan.axes.push_back(index.axis);
    plan.index_shape = broadcast_shapes(plan.index_shape, index.shape);
  }
  const bool is_open = std::ranges::any_of(indices, [&](const AxisIndex& index) {
    return broadcasts_at_run_time(index.shape, plan.index_shape);
  });
  std::vector<Value> columns;
  for (const AxisIndex& index : indices) columns.push_back(index.index);
  if (is_open) broadcast_columns(onnx, indices, plan, columns, result_shape);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!is_open && indices[i].shape != plan.index_shape)
      columns[i] = onnx.expand(columns[i], plan.index_shape);
    columns[i] = onnx.unsqueeze(columns[i], {-1});
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
