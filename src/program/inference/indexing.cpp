// Results of what takes elements by their positions, or puts them there.
#include <algorithm>

#include "program/inference/bound_call.h"

namespace sardonyx::program {
namespace {

TensorTypes own(const Bound& call) { return {like(call.self(), call.self().shape)}; }

TensorTypes gather(const Bound& call) {
  return {like(call.self(), call.tensor(call.has("indices") ? "indices" : "index").shape)};
}

TensorTypes index_select(const Bound& call) {
  Sizes shape = call.self().shape;
  const Value& index = call.tensor("index");
  const std::size_t axis = call.axis("dim", shape.size());
  if (axis < shape.size()) shape[axis] = index.rank() == 0 ? Expr(1) : index.shape[0];
  return {like(call.self(), std::move(shape))};
}

// x[i, :, j]: what the positions have in common stands where they stand, or in front where they
// are apart. A mask is as many lists of positions as it has dimensions.
TensorTypes index(const Bound& call) {
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

TensorTypes embedding(const Bound& call) {
  Sizes shape = call.tensor("indices").shape;
  shape.push_back(call.self().shape.at(1));
  return {like(call.self(), std::move(shape))};
}

TensorTypes nonzero(const Bound& call) {
  return {{DType::kInt64, {call.fresh(), static_cast<std::int64_t>(call.self().rank())}, {}}};
}

TensorTypes masked_select(const Bound& call) { return {like(call.self(), {call.fresh()})}; }

TensorTypes one_hot(const Bound& call) {
  Sizes shape = call.self().shape;
  const Expr classes = call.size("num_classes");
  shape.push_back(classes.is(-1) ? call.fresh() : classes);
  return {{DType::kInt64, std::move(shape), {}}};
}

TensorTypes repeat_interleave(const Bound& call) {
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

TensorTypes searched(const Bound& call) {
  const DType dtype = call.flag("out_int32") ? DType::kInt32 : DType::kInt64;
  const Value* self = call.optional_tensor("self");
  return {{dtype, self ? self->shape : Sizes{}, {}}};
}

TensorTypes take(const Bound& call) { return {like(call.self(), call.tensor("index").shape)}; }

TensorTypes take_along_dim(const Bound& call) {
  const Value &self = call.self(), &indices = call.tensor("indices");
  if (!call.has("dim")) return {like(self, {symbolic::product(indices.shape)})};
  const std::size_t axis = call.axis("dim", self.rank());
  Sizes own = self.shape, other = indices.shape;
  if (own.size() != other.size()) call.refuse("positions of another rank");
  own.at(axis) = 1;
  Sizes shape = call.broadcast(own, other);
  shape.at(axis) = other.at(axis);
  return {like(self, std::move(shape))};
}

// The values, where each element stands among them, and how often each is there.
TensorTypes distinct(const Bound& call) {
  const Value& self = call.self();
  const Expr count = call.fresh();
  const bool inverse = call.flag("return_inverse"), counts = call.flag("return_counts");
  const bool along = call.has("dim");
  Sizes shape = {count}, places = self.shape;
  if (along) {
    const std::size_t axis = call.axis("dim", self.rank());
    shape = self.shape;
    places = {shape.at(axis)};
    shape[axis] = count;
  }
  // unique_dim() gives them whether they are asked for or not.
  const bool always = call.name() == "unique_dim";
  TensorTypes results = {like(self, std::move(shape)),
                         {DType::kInt64, inverse || always ? places : Sizes{0}, {}}};
  if (call.schema().find("return_counts"))
    results.push_back({DType::kInt64, {counts || always ? count : Expr(0)}, {}});
  return results;
}

TensorTypes nonzero_by_axis(const Bound& call) {
  const Expr count = call.fresh();
  const std::size_t rank = std::max<std::size_t>(call.self().rank(), 1);
  return TensorTypes(rank, {DType::kInt64, {count}, {}});
}

TensorTypes nonzero_static(const Bound& call) {
  return {{DType::kInt64, {call.size("size"), static_cast<std::int64_t>(call.self().rank())}, {}}};
}

// How often each number occurs.
TensorTypes bin_count(const Bound& call) {
  const Value* weights = call.optional_tensor("weights");
  const DType dtype = !weights                            ? DType::kInt64
                      : weights->dtype == DType::kFloat32 ? DType::kFloat32
                                                          : DType::kFloat64;
  return {{dtype, {call.fresh()}, {}}};
}

TensorTypes histogram(const Bound& call) { return {like(call.self(), {call.size("bins")})}; }

// With the edges of the bins, of which there is one more; or of bins whose edges are given.
TensorTypes histogram_and_edges(const Bound& call) {
  const Value* edges = call.optional_tensor("bins");
  const Expr count = edges ? edges->shape.at(0) : call.size("bins") + 1;
  return {like(call.self(), {count - 1}), like(call.self(), {count})};
}

// Beside the bags: the bag of each index, which the quick kernel for sums leaves out; how many
// indices each bag has; and where its maxima stood.
TensorTypes embedding_bag(const Bound& call) {
  constexpr std::int64_t kSum = 0, kMax = 2;
  const Value &weight = call.self(), &offsets = call.tensor("offsets");
  const Expr count = offsets.shape.at(0);
  const Expr bags = count - (call.flag("include_last_offset") ? 1 : 0);
  const std::int64_t mode = call.integer("mode");
  const bool counts_back = call.schema().overload == "padding_idx";
  const bool pads = call.has("padding_idx") && (counts_back || call.integer("padding_idx") >= 0);
  const bool has_rows = weight.strides.empty() || weight.strides.at(1).is(1);
  const bool is_quick = mode == kSum && !pads && has_rows && weight.dtype != DType::kFloat64;
  const bool ends_count = mode == kSum && call.name() != "_embedding_bag";
  const Expr sums = ends_count ? count : bags, columns = weight.shape.at(1);
  const auto integers = [](Sizes shape) { return TensorType{DType::kInt64, std::move(shape), {}}; };
  return {like(weight, {bags, columns}),
          integers({is_quick ? Expr(0) : symbolic::product(call.tensor("indices").shape)}),
          integers({sums}), integers(mode == kMax ? Sizes{bags, columns} : Sizes{sums})};
}

TensorTypes masked_scatter(const Bound& call) {
  return {like(call.self(), call.broadcast(call.self().shape, call.tensor("mask").shape))};
}

TensorTypes drawn(const Bound& call) {
  Sizes shape = call.self().shape;
  if (shape.empty()) call.refuse("its input is a 0-d tensor");
  shape.back() = call.size("num_samples");
  return {{DType::kInt64, std::move(shape), {}}};
}

constexpr ResultRow kRows[] = {
    {"index_put _unsafe_index_put scatter scatter_add scatter_reduce index_fill index_copy "
     "index_add slice_scatter select_scatter diagonal_scatter as_strided_scatter put "
     "_index_put_impl "
     "index_reduce",
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
    {"take", take},
    {"take_along_dim", take_along_dim},
    {"_unique _unique2 unique_dim unique_consecutive unique_dim_consecutive", distinct},
    {"nonzero_numpy", nonzero_by_axis},
    {"nonzero_static", nonzero_static},
    {"bincount", bin_count},
    {"histc", histogram},
    {"histogram", histogram_and_edges},
    {"embedding_bag _embedding_bag _embedding_bag_forward_only", embedding_bag},
    {"masked_scatter", masked_scatter},
    {"multinomial", drawn},
};

}  // namespace

std::span<const ResultRow> indexing_results() { return kRows; }

}  // namespace sardonyx::program
