// Axes in another order, and axes made of others: movedim, mT, meshgrid, pixel_shuffle.
#include <algorithm>
#include <numeric>

#include "aten/families.h"

namespace sardonyx::aten {
namespace {

using Axes = std::vector<std::int64_t>;

// Each source axis goes to its destination; the others keep their order in what is left.
Outputs movedim(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const std::int64_t rank = self.rank();
  if (rank == 0) return {self};
  const Axes source = call.axes("source", rank), destination = call.axes("destination", rank);
  Axes order(static_cast<std::size_t>(rank), -1);
  for (std::size_t i = 0; i < source.size(); ++i) {
    order[static_cast<std::size_t>(destination[i])] = source[i];
  }
  std::int64_t next = 0;
  for (std::int64_t& axis : order) {
    if (axis >= 0) continue;
    while (std::ranges::find(source, next) != source.end()) ++next;
    axis = next++;
  }
  return {onnx.transpose(self, order)};
}

Outputs swap_last(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  return {self.rank() < 2 ? self : onnx.swap_axes(self, -1, -2)};
}

Outputs reversed(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  Axes order(static_cast<std::size_t>(self.rank()));
  std::iota(order.rbegin(), order.rend(), 0);
  return {onnx.transpose(self, order)};
}

Outputs swapaxes(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  if (self.rank() == 0) return {self};
  return {onnx.swap_axes(self, call.integer("axis0"), call.integer("axis1"))};
}

Outputs swapdims(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  if (self.rank() == 0) return {self};
  return {onnx.swap_axes(self, call.integer("dim0"), call.integer("dim1"))};
}

// One axis of each tensor, spread over the grid that all of them span.
Outputs grid(const Call& call, Emit& onnx, bool columns_first) {
  const std::vector<Value> tensors = call.tensors("tensors");
  const auto count = static_cast<std::int64_t>(tensors.size());
  Outputs result;
  for (std::int64_t i = 0; i < count; ++i) {
    const Value vector = onnx.flatten_to_1d(tensors[static_cast<std::size_t>(i)]);
    // "xy" swaps the first two axes.
    const std::int64_t axis = columns_first && i < 2 && count > 1 ? 1 - i : i;
    Axes others;
    for (std::int64_t k = 0; k < count; ++k) {
      if (k != axis) others.push_back(k);
    }
    if (!call.uses_output(static_cast<std::size_t>(i))) {
      result.emplace_back();
      continue;
    }
    result.push_back(onnx.expand(onnx.unsqueeze(vector, others),
                                 call.result_shape(static_cast<std::size_t>(i))));
  }
  return result;
}

Outputs meshgrid(const Call& call, Emit& onnx) { return grid(call, onnx, false); }
Outputs meshgrid_indexing(const Call& call, Emit& onnx) {
  return grid(call, onnx, call.text("indexing") == "xy");
}

// [*, C r^2, H, W] -> [*, C, H r, W r]. DepthToSpace does it for one leading axis.
Outputs pixel_shuffle(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const std::int64_t factor = call.integer("upscale_factor");
  const Shape shape = self.shape();
  if (self.rank() == 4) {
    return {onnx.depth_to_space(self, {.blocksize = factor, .mode = "CRD"})};
  }
  Shape merged = {symbolic::product(std::span(shape).first(shape.size() - 3))};
  merged.insert(merged.end(), shape.end() - 3, shape.end());
  const Value batch = onnx.reshape(self, merged);
  return {onnx.reshape(onnx.depth_to_space(batch, {.blocksize = factor, .mode = "CRD"}),
                       call.result_shape())};
}

// [*, C, H r, W r] -> [*, C r^2, H, W]; SpaceToDepth puts the block before the channel.
Outputs pixel_unshuffle(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const std::int64_t r = call.integer("downscale_factor");
  const Shape& out = call.result_shape();
  Shape split(self.shape().begin(), self.shape().end() - 2);
  const auto lead = static_cast<std::int64_t>(split.size());
  for (const Expr part : {out[out.size() - 2], Expr(r), out[out.size() - 1], Expr(r)}) {
    split.push_back(part);
  }
  Axes order(static_cast<std::size_t>(lead));
  std::iota(order.begin(), order.end(), 0);
  for (const std::int64_t axis : {lead + 1, lead + 3, lead, lead + 2}) order.push_back(axis);
  return {onnx.reshape(onnx.transpose(onnx.reshape(self, split), order), out)};
}

Outputs channel_shuffle(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const Expr groups = call.size("groups");
  Shape split = self.shape();
  split[1] = symbolic::exact_quotient(self.dim(1), groups);
  if (!split[1].known()) split[1] = symbolic::floor_div(self.dim(1), groups);
  split.insert(split.begin() + 1, groups);
  return {onnx.reshape(onnx.swap_axes(onnx.reshape(self, split), 1, 2), self.shape())};
}

Outputs broadcast_tensors(const Call& call, Emit& onnx) {
  Outputs result;
  for (const Value tensor : call.tensors("tensors")) {
    const std::size_t i = result.size();
    result.push_back(call.uses_output(i) ? onnx.expand(tensor, call.result_shape(i)) : Value{});
  }
  return result;
}

constexpr Row kRows[] = {
    {"aten::adjoint(Tensor(a) self) -> Tensor(a)", swap_last},
    {"aten::broadcast_tensors(Tensor[] tensors) -> Tensor[]", broadcast_tensors},
    {"aten::channel_shuffle(Tensor self, SymInt groups) -> Tensor", channel_shuffle},
    {"aten::mH(Tensor(a) self) -> Tensor(a)", swap_last},
    {"aten::mT(Tensor(a) self) -> Tensor(a)", swap_last},
    {"aten::matrix_H(Tensor(a) self) -> Tensor(a)", swap_last},
    {"aten::meshgrid(Tensor[] tensors) -> Tensor[]", meshgrid},
    {"aten::meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[]", meshgrid_indexing},
    {"aten::moveaxis.int(Tensor(a) self, int source, int destination) -> Tensor(a)", movedim},
    {"aten::moveaxis.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
     movedim},
    {"aten::movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)", movedim},
    {"aten::movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
     movedim},
    {"aten::native_channel_shuffle(Tensor self, SymInt groups) -> Tensor", channel_shuffle},
    {"aten::numpy_T(Tensor(a) self) -> Tensor(a)", reversed},
    {"aten::pixel_shuffle(Tensor self, int upscale_factor) -> Tensor", pixel_shuffle},
    {"aten::pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor", pixel_unshuffle},
    {"aten::swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)", swapaxes},
    {"aten::swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", swapdims},
};

}  // namespace

std::span<const Row> axis_order_rows() { return kRows; }

}  // namespace sardonyx::aten
