// Results of what takes elements by their positions, or puts them there.
#include "program/results/bound.h"

namespace sardonyx::program {
namespace {

ResultTensors own(const Bound& call) { return {like(call.self(), call.self().shape)}; }

ResultTensors gather(const Bound& call) {
  return {like(call.self(), call.tensor(call.has("indices") ? "indices" : "index").shape)};
}

ResultTensors index_select(const Bound& call) {
  Sizes shape = call.self().shape;
  const Value& index = call.tensor("index");
  const std::size_t axis = call.axis("dim", shape.size());
  if (axis < shape.size()) shape[axis] = index.rank() == 0 ? Expr(1) : index.shape[0];
  return {like(call.self(), std::move(shape))};
}

// x[i, :, j]: what the positions have in common stands where they stand, or in front where they
// are apart. A mask is as many lists of positions as it has dimensions.
ResultTensors index(const Bound& call) {
  const Sizes& shape = call.self().shape;
  Sizes common, rest;
  std::size_t axis = 0, first = 0, last = 0;
  bool any = false, apart = false;
  for (const Value* positions : call.tensors("indices")) {
    if (!positions) {
      rest.push_back(shape.at(axis++));
      continue;
    }
    const bool is_mask = positions->dtype == DType::kBool || positions->dtype == DType::kUInt8;
    const std::size_t taken = is_mask ? positions->rank() : 1;
    if (any && last != axis) apart = true;
    if (!any) first = rest.size();
    any = true;
    common = is_mask ? call.broadcast(common, Sizes{call.fresh()})
                     : call.broadcast(common, positions->shape);
    axis += taken;
    last = axis;
    if (axis > shape.size()) call.refuse("there are more positions than dimensions");
  }
  for (; axis < shape.size(); ++axis) rest.push_back(shape[axis]);
  const std::size_t place = apart ? 0 : first;
  rest.insert(rest.begin() + static_cast<std::ptrdiff_t>(place), common.begin(), common.end());
  return {like(call.self(), std::move(rest))};
}

ResultTensors embedding(const Bound& call) {
  Sizes shape = call.tensor("indices").shape;
  shape.push_back(call.self().shape.at(1));
  return {like(call.self(), std::move(shape))};
}

ResultTensors nonzero(const Bound& call) {
  return {{DType::kInt64, {call.fresh(), static_cast<std::int64_t>(call.self().rank())}, {}}};
}

ResultTensors masked_select(const Bound& call) { return {like(call.self(), {call.fresh()})}; }

ResultTensors one_hot(const Bound& call) {
  Sizes shape = call.self().shape;
  const Expr classes = call.size("num_classes");
  shape.push_back(classes.is(-1) ? call.fresh() : classes);
  return {{DType::kInt64, std::move(shape), {}}};
}

ResultTensors repeat_interleave(const Bound& call) {
  if (!call.schema().find("self")) return {{call.self().dtype, {call.fresh()}, {}}};
  Sizes shape = call.self().shape;
  std::size_t axis = 0;
  if (call.has("dim")) {
    axis = call.axis("dim", shape.size());
  } else {
    shape = {symbolic::product(shape)};
  }
  shape.at(axis) =
      call.schema().overload == "self_int" ? shape.at(axis) * call.size("repeats") : call.fresh();
  return {like(call.self(), std::move(shape))};
}

ResultTensors searched(const Bound& call) {
  const DType dtype = call.flag("out_int32") ? DType::kInt32 : DType::kInt64;
  const Value* self = call.optional_tensor("self");
  return {{dtype, self ? self->shape : Sizes{}, {}}};
}

constexpr ResultRow kRows[] = {
    {"index_put _unsafe_index_put scatter scatter_add scatter_reduce index_fill index_copy "
     "index_add masked_scatter slice_scatter select_scatter diagonal_scatter put _index_put_impl",
     own},
    {"gather", gather},
    {"index_select", index_select},
    {"index _unsafe_index", index},
    {"embedding", embedding},
    {"nonzero argwhere", nonzero},
    {"masked_select", masked_select},
    {"one_hot", one_hot},
    {"repeat_interleave", repeat_interleave},
    {"searchsorted bucketize", searched},
};

}  // namespace

std::span<const ResultRow> indexing_results() { return kRows; }

}  // namespace sardonyx::program
