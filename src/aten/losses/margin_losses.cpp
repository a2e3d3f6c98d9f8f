// Losses by margins between the scores of right and wrong classes.
#include <numeric>

#include "aten/elementwise/operands.h"
#include "aten/families.h"
#include "aten/losses/loss_reduction.h"

namespace sardonyx::aten {
namespace {

// What is above 0 where it is taken, else 0. Not by Relu: PyTorch passes over a margin that is NaN.
Value above_zero(Emit& onnx, Value margin, Value taken) {
  const Value zero = onnx.zero(margin.dtype());
  return onnx.where(onnx.and_(taken, onnx.greater(margin, zero)), margin, zero);
}

// A single sample's own loss is a number, where its target is one.
Outputs reduced(const Call& call, Emit& onnx, Value losses, bool single) {
  const Outputs outputs = reduced_loss(call, onnx, losses);
  if (!single || call.integer("reduction") != 0) return outputs;
  return {onnx.reshape(outputs.front(), Shape{})};
}

// Every class i besides the target j adds weight[j] max(0, margin - x[j] + x[i])^p / classes.
Outputs multi_margin_loss(const Call& call, Emit& onnx) {
  const DType dtype = computing_type(call.result_dtype());
  const Value scores = onnx.with_rank(onnx.cast(call.tensor("self"), dtype), 2);
  const Value given = onnx.cast(call.tensor("target"), DType::kInt64);
  const Value target = onnx.unsqueeze(onnx.with_rank(given, 1), {1});  // [N, 1]
  const Value found = onnx.gather_elements(scores, target, {.axis = 1});
  const Value own = scalar_value(onnx, call.scalar("margin"), dtype);
  const Value other = onnx.not_(onnx.equal(target, onnx.range(scores.dim(1))));
  Value terms = above_zero(onnx, onnx.add(onnx.sub(own, found), scores), other);
  if (call.scalar("p").is(2)) terms = onnx.mul(terms, terms);
  if (call.has("weight")) {
    terms = onnx.mul(terms, onnx.gather(onnx.cast(call.tensor("weight"), dtype), target));
  }
  const std::vector<std::int64_t> over_classes = {1};
  const Value classes = onnx.real_size(scores.dim(1), dtype);
  const Value losses = onnx.div(onnx.reduce("ReduceSum", terms, over_classes, false), classes);
  return reduced(call, onnx, losses, given.rank() == 0);
}

// Targets are class indices up to the first -1. Every pair of a target j and another class i adds
// max(0, 1 - x[j] + x[i]) / classes.
Outputs multilabel_margin_loss(const Call& call, Emit& onnx) {
  const DType dtype = computing_type(call.result_dtype());
  const Value scores = onnx.with_rank(onnx.cast(call.tensor("self"), dtype), 2);
  const Value target = onnx.with_rank(onnx.cast(call.tensor("target"), DType::kInt64), 2);
  const Value zero = onnx.int_scalar(0), one = onnx.one(dtype);
  const Value ended = onnx.cast(onnx.less(target, zero), DType::kInt64);
  const Value listed = onnx.equal(onnx.cumsum(ended, onnx.int_scalar(1)), zero);  // [N, C]
  const Value chosen = onnx.where(listed, target, zero);

  // [N, targets, classes]
  const Value hit = onnx.and_(onnx.equal(onnx.unsqueeze(chosen, {2}), onnx.range(scores.dim(1))),
                              onnx.unsqueeze(listed, {2}));
  const std::vector<std::int64_t> over_targets = {1};
  const Value hits =
      onnx.reduce("ReduceMax", onnx.cast(hit, DType::kInt32), over_targets, /*keep_dims=*/true);
  const Value other = onnx.not_(onnx.cast(hits, DType::kBool));
  const Value found = onnx.gather_elements(scores, chosen, {.axis = 1});
  const Value margin =
      onnx.add(onnx.sub(one, onnx.unsqueeze(found, {2})), onnx.unsqueeze(scores, {1}));
  const Value pairs = onnx.and_(onnx.unsqueeze(listed, {2}), other);
  const Value terms = above_zero(onnx, margin, pairs);

  const std::vector<std::int64_t> of_sample = {1, 2};
  const Value classes = onnx.cast(onnx.size(scores.dim(1)), dtype);
  const Value losses = onnx.div(onnx.reduce("ReduceSum", terms, of_sample, false), classes);
  return reduced(call, onnx, losses, call.tensor("target").rank() <= 1);
}

constexpr Row kRows[] = {
    {"aten::multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? "
     "weight=None, int reduction=1) -> Tensor",
     multi_margin_loss},
    {"aten::multilabel_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
     multilabel_margin_loss},
};

}  // namespace

std::span<const Row> margin_losses_rows() { return kRows; }

}  // namespace sardonyx::aten
