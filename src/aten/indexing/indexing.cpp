// Reading and writing by tensors of indices: x[i, :, j] and x[i, :, j] = v.
#include <algorithm>
#include <numeric>

#include "aten/families.h"
#include "aten/indexing/index_plan.h"

namespace sardonyx::aten {
namespace {

using Axes = std::vector<std::int64_t>;

// Moves `count` axes from position `from` to position `to`.
Value move_block(Emit& onnx, Value x, std::int64_t from, std::int64_t to, std::int64_t count) {
  Axes order(static_cast<std::size_t>(x.rank()));
  std::iota(order.begin(), order.end(), 0);
  if (from < to) {
    std::rotate(order.begin() + from, order.begin() + from + count, order.begin() + to + count);
  } else {
    std::rotate(order.begin() + to, order.begin() + from, order.begin() + from + count);
  }
  return onnx.transpose(x, order);
}

Value read_planned(Emit& onnx, Value self, const std::vector<AxisIndex>& indices,
                   const Shape& result_shape) {
  // One index along one axis is what Gather is for; it takes negative indices too.
  if (indices.size() == 1) {
    return onnx.gather(self, indices.front().index, {.axis = indices.front().axis});
  }
  const IndexPlan plan = plan_index(onnx, indices, self.rank(), result_shape);
  const Value found = onnx.gather_nd(onnx.transpose(self, plan.to_front), plan.coordinates);
  // The index's axes come out in front; PyTorch puts them where the indexed axes were.
  return move_block(onnx, found, 0, plan.position,
                    static_cast<std::int64_t>(plan.index_shape.size()));
}

Outputs index(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const std::vector<AxisIndex> indices = axis_indices(call, onnx, call.result_shape());
  if (indices.empty()) return {self};
  return {read_planned(onnx, self, indices, call.result_shape())};
}

// x[mask] = one value: no coordinates needed.
bool fills_by_mask(const Call& call, Value values) {
  const std::vector<Value> indices = call.optional_tensors("indices");
  return indices.size() == 1 && indices.front() && indices.front().dtype() == DType::kBool &&
         indices.front().rank() > 0 && values.element_count().is(1) && !call.flag("accumulate");
}

Outputs fill_by_mask(const Call& call, Emit& onnx, Value self, Value values) {
  Value mask = call.optional_tensors("indices").front();
  Axes trailing;
  for (std::int64_t axis = mask.rank(); axis < self.rank(); ++axis) trailing.push_back(axis);
  mask = onnx.unsqueeze(mask, trailing);
  return {onnx.where(mask, onnx.reshape(values, std::initializer_list<Expr>{}), self)};
}

// The values spread over what is written, in the layout of self[indices].
Shape written_shape(const IndexPlan& plan, const Shape& self) {
  Shape shape;
  for (std::size_t axis = 0; axis < self.size(); ++axis) {
    if (std::ranges::find(plan.axes, static_cast<std::int64_t>(axis)) == plan.axes.end()) {
      shape.push_back(self[axis]);
    }
  }
  shape.insert(shape.begin() + plan.position, plan.index_shape.begin(), plan.index_shape.end());
  return shape;
}

Value write_planned(Emit& onnx, Value self, Value values, const IndexPlan& plan, bool accumulate) {
  const auto index_rank = static_cast<std::int64_t>(plan.index_shape.size());
  Value updates = onnx.expand(values, written_shape(plan, self.shape()));
  updates = move_block(onnx, updates, plan.position, 0, index_rank);
  const Value front = onnx.transpose(self, plan.to_front);
  Value written;
  if (accumulate) {
    written = onnx.scatter_nd(front, plan.coordinates, updates, {.reduction = "add"});
  } else {
    written = onnx.scatter_nd(front, plan.coordinates, updates);
  }
  Axes back(plan.to_front.size());
  for (std::size_t i = 0; i < back.size(); ++i) {
    back[static_cast<std::size_t>(plan.to_front[i])] = static_cast<std::int64_t>(i);
  }
  return onnx.transpose(written, back);
}

Outputs index_put(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const Value values = onnx.cast(call.tensor("values"), self.dtype());
  if (fills_by_mask(call, values)) return fill_by_mask(call, onnx, self, values);
  const std::vector<AxisIndex> indices = axis_indices(call, onnx, values.shape());
  if (indices.empty()) return {onnx.expand(values, self.shape())};
  const IndexPlan plan = plan_index(onnx, indices, self.rank(), values.shape());
  return {write_planned(onnx, self, values, plan, call.flag("accumulate"))};
}

// Indices held within [-size, size), beyond which only what the mask leaves out may lie.
std::vector<AxisIndex> held_indices(const Call& call, Emit& onnx, Value self) {
  std::vector<AxisIndex> indices = axis_indices(call, onnx, {});
  for (AxisIndex& i : indices) {
    const Expr size = self.dim(i.axis);
    i.index = onnx.max({onnx.min({i.index, onnx.size(size - 1)}), onnx.size(-size)});
  }
  return indices;
}

Outputs unsafe_masked_index(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const Value fill = scalar_value(onnx, call.scalar("fill"), self.dtype());
  if (self.element_count().is(0)) return {onnx.full(call.result_shape(), fill)};
  const Value found = read_planned(onnx, self, held_indices(call, onnx, self), {});
  return {onnx.where(call.tensor("mask"), found, fill)};
}

Outputs unsafe_masked_index_put_accumulate(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  if (self.element_count().is(0)) return {self};
  const Value values = onnx.cast(call.tensor("values"), self.dtype());
  const Value added = onnx.where(call.tensor("mask"), values, onnx.zero(self.dtype()));
  const IndexPlan plan = plan_index(onnx, held_indices(call, onnx, self), self.rank());
  return {write_planned(onnx, self, added, plan, true)};
}

Outputs index_select(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self"), index = call.tensor("index");
  // A 0-d tensor is indexed as one of a single element.
  if (self.rank() == 0) return {self};
  return {onnx.gather(self, onnx.with_rank(index, 1), {.axis = call.axis("dim", self.rank())})};
}

Outputs gather(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self"), index = call.tensor("index");
  if (self.rank() == 0 || index.rank() == 0) {
    const Value found = onnx.gather_elements(onnx.with_rank(self, 1), onnx.with_rank(index, 1));
    return {onnx.reshape(found, call.result_shape())};
  }
  // Nothing may be gathered by an index of any rank.
  if (index.rank() != self.rank()) return {onnx.full(call.result_shape(), onnx.zero(self.dtype()))};
  return {onnx.gather_elements(self, index, {.axis = call.axis("dim", self.rank())})};
}

constexpr Row kRows[] = {
    {"aten::_unsafe_index.Tensor(Tensor self, Tensor?[] indices) -> Tensor", index},
    {"aten::_unsafe_index_put(Tensor self, Tensor?[] indices, Tensor values, bool "
     "accumulate=False) "
     "-> Tensor",
     index_put},
    {"aten::_unsafe_masked_index(Tensor self, Tensor mask, Tensor?[] indices, Scalar fill) -> "
     "Tensor",
     unsafe_masked_index},
    {"aten::_unsafe_masked_index_put_accumulate(Tensor self, Tensor mask, Tensor?[] indices, "
     "Tensor "
     "values) -> Tensor",
     unsafe_masked_index_put_accumulate},
    {"aten::gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
     gather},
    {"aten::index.Tensor(Tensor self, Tensor?[] indices) -> Tensor", index},
    {"aten::index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> "
     "Tensor",
     index_put},
    {"aten::index_select(Tensor self, int dim, Tensor index) -> Tensor", index_select},
};

}  // namespace

std::span<const Row> indexing_rows() { return kRows; }

}  // namespace sardonyx::aten
