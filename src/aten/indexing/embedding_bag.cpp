// Bags of embeddings: sums, means or maxima of a table's rows, bag by bag.
#include <limits>

#include "aten/elementwise/operands.h"
#include "aten/families.h"
#include "aten/ordering/ordering.h"
#include "aten/reduction/vector_norm.h"

namespace sardonyx::aten {
namespace {

enum Mode : std::int64_t { kSum = 0, kMean = 1, kMax = 2 };

// Indices (1-d), the bag that each one belongs to, and whether it counts.
struct Bags {
  Value indices;
  Value bag;   // int64 [n]
  Value kept;  // bool [n]; absent: all of them
  Value read;  // bool [n]: those among them whose rows are read; absent: all of them
  Expr count;
};

// Whether rows are read up to the last offset only, which ought to be the number of indices. Only
// PyTorch's fast kernel, for sums and means in these types, looks at it; the size of the last bag
// is counted without it even there.
bool ends_at_last_offset(const Call& call) {
  const DType dtype = call.tensor("weight").dtype();
  const bool fast =
      dtype == DType::kFloat32 || dtype == DType::kFloat16 || dtype == DType::kBFloat16;
  return fast && call.flag("include_last_offset") && call.integer("mode") != kMax;
}

Bags bags_of(const Call& call, Emit& onnx) {
  Bags bags;
  bags.indices = onnx.cast(call.tensor("indices"), DType::kInt64);
  const Value offsets = onnx.cast(call.tensor("offsets"), DType::kInt64);
  bags.count = offsets.dim(0) - (call.flag("include_last_offset") ? 1 : 0);
  // With include_last_offset the last one only says where the last bag ends.
  const Value begins = onnx.slice(offsets, 0, 0, bags.count);
  const Value places = onnx.range(bags.indices.dim(0));
  bags.bag = onnx.sub(insertion_points(onnx, begins, places, true), onnx.int_scalar(1));
  std::optional<std::int64_t> padding;
  const bool optional = call.captured().schema->qualified() == "aten::embedding_bag.padding_idx";
  if (call.captured().schema->find("padding_idx")) padding = call.optional_integer("padding_idx");
  if (padding && *padding < 0 && !optional) padding.reset();  // -1 there means none
  if (padding) {
    Value skipped = onnx.int_scalar(*padding);
    if (*padding < 0) {
      skipped = onnx.add(skipped, onnx.size(call.tensor("weight").dim(0)));
    }
    bags.kept = onnx.not_(onnx.equal(bags.indices, skipped));
    bags.read = bags.kept;
  } else if (ends_at_last_offset(call)) {
    bags.read = onnx.less(places, onnx.slice(offsets, 0, bags.count, bags.count + 1));
  }
  return bags;
}

// How many elements of each bag count, at least 1: [bags, 1].
Value sizes_of(Emit& onnx, const Bags& bags, DType dtype) {
  const Value one =
      bags.kept ? onnx.cast(bags.kept, dtype) : onnx.full(bags.indices.shape(), onnx.one(dtype));
  const Value zeros = onnx.full(Shape{bags.count}, onnx.zero(dtype));
  const Value counts = onnx.scatter_elements(zeros, bags.bag, one, {.axis = 0, .reduction = "add"});
  return onnx.unsqueeze(counts, {1});
}

// What embedding_bag keeps for its gradient: the bag of each index, the sizes of the bags and where
// their maxima stood. PyTorch leaves out what the mode has no need of.
void add_bookkeeping(const Call& call, Emit& onnx, const Bags& bags, Outputs& outputs) {
  const std::int64_t mode = call.integer("mode");
  const auto result = [&](std::size_t i, Value value) {
    if (call.uses_output(i)) outputs[i] = onnx.cast(value, call.result_dtype(i));
  };
  const auto result_of_zeros = [&](std::size_t i) {
    if (call.uses_output(i)) result(i, onnx.full(call.result_shape(i), onnx.int_scalar(0)));
  };
  if (call.uses_output(1) && call.result_shape(1).front().is(0)) {
    result_of_zeros(1);
  } else {
    result(1, bags.bag);
  }
  if (mode == kSum) {
    result_of_zeros(2);
    result_of_zeros(3);
    return;
  }
  if (mode == kMax && call.uses_output(3)) {
    call.refuse("the places of the maxima, which embedding_bag returns beside them",
                "use its other results only");
  }
  const Value sizes = onnx.squeeze(sizes_of(onnx, bags, DType::kInt64), {1});
  result(2, sizes);
  if (mode == kMean) result(3, sizes);
}

Outputs embedding_bag(const Call& call, Emit& onnx) {
  const std::int64_t mode = call.integer("mode");
  const DType dtype = computing_type(call.tensor("weight").dtype());
  const Bags bags = bags_of(call, onnx);
  Value rows = onnx.cast(onnx.gather(call.tensor("weight"), bags.indices), dtype);
  if (call.has("per_sample_weights")) {
    const Value weights = onnx.cast(call.tensor("per_sample_weights"), dtype);
    rows = onnx.mul(rows, onnx.unsqueeze(weights, {1}));
  }
  const double low = mode == kMax ? -std::numeric_limits<double>::infinity() : 0;
  const Value empty = onnx.scalar(low, dtype);
  if (bags.read) rows = onnx.where(onnx.unsqueeze(bags.read, {1}), rows, empty);
  const Value start = onnx.full(Shape{bags.count, call.tensor("weight").dim(1)}, empty);
  Value sums = onnx.scatter_nd(start, onnx.unsqueeze(bags.bag, {1}), rows,
                               {.reduction = mode == kMax ? "max" : "add"});
  if (mode != kSum) {
    const Value sizes = sizes_of(onnx, bags, dtype);
    const Value zero = onnx.zero(dtype);
    sums = mode == kMean ? onnx.div(sums, onnx.max({sizes, onnx.one(dtype)}))
                         : onnx.where(onnx.greater(sizes, zero), sums, zero);
  }
  Outputs outputs(call.output_count());
  if (call.uses_output(0)) outputs.front() = cast_to_result(onnx, call, sums);
  const bool keeps_books = call.uses_output(1) || call.uses_output(2) || call.uses_output(3);
  if (keeps_books) add_bookkeeping(call, onnx, bags, outputs);
  return outputs;
}

// The rows that are looked up, scaled down to norm max_norm where theirs is larger.
Outputs embedding_renorm(const Call& call, Emit& onnx) {
  const Value table = call.tensor("self");
  const DType dtype = table.dtype();
  const Value indices = onnx.cast(onnx.flatten_to_1d(call.tensor("indices")), DType::kInt64);
  const Value norm = vector_norm(onnx, table, {1}, true, call.number("norm_type"));
  const Value most = onnx.scalar(call.number("max_norm"), dtype);
  const Value scale = onnx.div(most, onnx.add(norm, onnx.scalar(1e-7, dtype)));
  const Value zeros = onnx.full(Shape{table.dim(0)}, onnx.int_scalar(0));
  const Value ones = onnx.full(indices.shape(), onnx.int_scalar(1));
  const Value looked_up = onnx.scatter_elements(zeros, indices, ones, {.axis = 0});
  const Value asked = onnx.unsqueeze(onnx.cast(looked_up, DType::kBool), {1});
  const Value scaled = onnx.and_(asked, onnx.greater(norm, most));
  return {onnx.where(scaled, onnx.mul(table, scale), table)};
}

constexpr Row kRows[] = {
    {"aten::_embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool "
     "scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, "
     "bool include_last_offset=False, int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)",
     embedding_bag},
    {"aten::_embedding_bag_forward_only(Tensor weight, Tensor indices, Tensor offsets, bool "
     "scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, "
     "bool include_last_offset=False, int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)",
     embedding_bag},
    {"aten::embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool "
     "scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, "
     "bool include_last_offset=False) -> (Tensor, Tensor, Tensor, Tensor)",
     embedding_bag},
    {"aten::embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor offsets, bool "
     "scale_grad_by_freq, int mode, bool sparse, Tensor? per_sample_weights, bool "
     "include_last_offset, int? padding_idx) -> (Tensor, Tensor, Tensor, Tensor)",
     embedding_bag},
    {"aten::embedding_renorm(Tensor self, Tensor indices, float max_norm, float norm_type) -> "
     "Tensor",
     embedding_renorm},
};

}  // namespace

std::span<const Row> embedding_bag_rows() { return kRows; }

}  // namespace sardonyx::aten
