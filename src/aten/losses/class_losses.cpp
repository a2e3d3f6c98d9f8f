// Losses of class scores and class indices: nll_loss, cross_entropy_loss, and the latter of a
// linear layer's scores.
#include "aten/elementwise/operands.h"
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

Value wide(const Call& call, Emit& onnx, std::string_view name) {
  return onnx.cast(call.tensor(name), computing_type(call.result_dtype()));
}

Value sum_of_all(Emit& onnx, Value x) {
  std::vector<std::int64_t> axes;
  for (std::int64_t axis = 0; axis < x.rank(); ++axis) axes.push_back(axis);
  return axes.empty() ? x : onnx.reduce("ReduceSum", x, axes, false);
}

// The axis of classes: 1 of batches, 0 of a single sample.
std::int64_t class_axis(Value scores) { return scores.rank() == 1 ? 0 : 1; }

struct Picked {
  Value kept;     // bool: targets that are not ignored
  Value places;   // the targets, 0 for ignored ones
  Value weights;  // of the targets' classes, 0 for ignored ones
};

Picked picked(const Call& call, Emit& onnx, DType dtype) {
  const Value target = onnx.cast(call.tensor("target"), DType::kInt64);
  const Value ignored = onnx.equal(target, onnx.size(call.size("ignore_index")));
  Picked p;
  p.kept = onnx.not_(ignored);
  p.places = onnx.where(ignored, onnx.int_scalar(0), target);
  const Value zero = onnx.zero(dtype);
  if (call.has("weight")) {
    const Value weight = onnx.cast(call.tensor("weight"), dtype);
    p.weights = onnx.where(ignored, zero, onnx.gather(weight, p.places));
  } else {
    p.weights = onnx.cast(p.kept, dtype);
  }
  return p;
}

// Minus the score at each target's class.
Value loss_at_targets(Emit& onnx, Value scores, const Picked& p) {
  const std::int64_t axis = class_axis(scores);
  const Value places = onnx.unsqueeze(p.places, {axis});
  const Value found = onnx.squeeze(onnx.gather_elements(scores, places, {.axis = axis}), {axis});
  // Where, not a product: an ignored target's score may be infinite.
  return onnx.where(p.kept, onnx.mul(onnx.neg(found), p.weights), onnx.zero(scores.dtype()));
}

Value nll(const Call& call, Emit& onnx, Value scores, const Picked& p) {
  const Value loss = loss_at_targets(onnx, scores, p);
  const std::int64_t reduction = call.integer("reduction");
  if (reduction == 0) return loss;
  const Value sum = sum_of_all(onnx, loss);
  return reduction == 2 ? sum : onnx.div(sum, sum_of_all(onnx, p.weights));
}

Outputs nll_loss(const Call& call, Emit& onnx) {
  const Value scores = wide(call, onnx, "self");
  const Picked p = picked(call, onnx, scores.dtype());
  return {cast_to_result(onnx, call, nll(call, onnx, scores, p))};
}

Outputs nll_loss_forward(const Call& call, Emit& onnx) {
  const Value scores = wide(call, onnx, "self");
  const Picked p = picked(call, onnx, scores.dtype());
  // PyTorch gives no total weight of losses that stay apart, but that of a single sample.
  const bool totals = call.integer("reduction") != 0 || scores.rank() == 1;
  const Value total = totals ? sum_of_all(onnx, p.weights) : onnx.zero(scores.dtype());
  return {cast_to_result(onnx, call, nll(call, onnx, scores, p)),
          onnx.cast(total, call.result_dtype())};
}

// Weights along the axis of classes, ready to broadcast.
Value class_weights(const Call& call, Emit& onnx, Value scores) {
  const Value weight = onnx.cast(call.tensor("weight"), scores.dtype());
  std::vector<std::int64_t> axes;
  for (std::int64_t axis = class_axis(scores) + 1; axis < scores.rank(); ++axis) {
    axes.push_back(axis - class_axis(scores));
  }
  return axes.empty() ? weight : onnx.unsqueeze(weight, axes);
}

// Targets are probabilities of the classes; the mean is over samples, not elements.
Value soft_cross_entropy(const Call& call, Emit& onnx, Value log_p) {
  const std::int64_t axis = class_axis(log_p);
  const std::vector<std::int64_t> axes = {axis};
  Value target = onnx.cast(call.tensor("target"), log_p.dtype());
  const double smoothing = call.number("label_smoothing");
  if (smoothing > 0) {
    const Value classes = onnx.cast(onnx.size(log_p.dim(axis)), log_p.dtype());
    const Value share = onnx.div(onnx.scalar(smoothing, log_p.dtype()), classes);
    target = onnx.add(onnx.mul(target, onnx.scalar(1 - smoothing, log_p.dtype())), share);
  }
  Value terms = onnx.mul(log_p, target);
  if (call.has("weight")) terms = onnx.mul(terms, class_weights(call, onnx, log_p));
  const Value loss = onnx.neg(onnx.reduce("ReduceSum", terms, axes, false));
  const std::int64_t reduction = call.integer("reduction");
  if (reduction == 0) return loss;
  const Value sum = sum_of_all(onnx, loss);
  if (reduction == 2) return sum;
  Expr samples = 1;
  for (std::int64_t i = 0; i < loss.rank(); ++i) samples = samples * loss.dim(i);
  return onnx.div(sum, onnx.cast(onnx.size(samples), sum.dtype()));
}

// (1 - s) * nll + s / classes * the sum of minus log p over all classes.
Value smoothed(const Call& call, Emit& onnx, Value log_p, const Picked& p, double smoothing) {
  const DType dtype = log_p.dtype();
  const std::int64_t axis = class_axis(log_p);
  const std::vector<std::int64_t> axes = {axis};
  Value terms = onnx.neg(log_p);
  if (call.has("weight")) terms = onnx.mul(terms, class_weights(call, onnx, log_p));
  const Value all = onnx.reduce("ReduceSum", terms, axes, false);
  Value even = onnx.where(p.kept, all, onnx.zero(dtype));
  const std::int64_t reduction = call.integer("reduction");
  if (reduction != 0) even = sum_of_all(onnx, even);
  if (reduction == 1) even = onnx.div(even, sum_of_all(onnx, p.weights));
  const Value share =
      onnx.div(onnx.scalar(smoothing, dtype), onnx.cast(onnx.size(log_p.dim(axis)), dtype));
  const Value hard = onnx.mul(nll(call, onnx, log_p, p), onnx.scalar(1 - smoothing, dtype));
  return onnx.add(hard, onnx.mul(even, share));
}

Outputs cross_entropy_loss(const Call& call, Emit& onnx) {
  const Value scores = wide(call, onnx, "self");
  const Value log_p = onnx.log_softmax(scores, {.axis = class_axis(scores)});
  if (base::is_floating(call.tensor("target").dtype())) {
    return {cast_to_result(onnx, call, soft_cross_entropy(call, onnx, log_p))};
  }
  const Picked p = picked(call, onnx, scores.dtype());
  const double smoothing = call.number("label_smoothing");
  const Value loss =
      smoothing > 0 ? smoothed(call, onnx, log_p, p, smoothing) : nll(call, onnx, log_p, p);
  return {cast_to_result(onnx, call, loss)};
}

// scores = input x linear_weight^T + linear_bias, which PyTorch computes in chunks of the batch to
// hold less of them at a time.
Value linear_scores(const Call& call, Emit& onnx) {
  const Value weight = onnx.transpose(wide(call, onnx, "linear_weight"), {1, 0});
  const Value product = onnx.matmul(wide(call, onnx, "input"), weight);
  return call.has("linear_bias") ? onnx.add(product, wide(call, onnx, "linear_bias")) : product;
}

Outputs linear_cross_entropy_unreduced(const Call& call, Emit& onnx) {
  const Value log_p = onnx.log_softmax(linear_scores(call, onnx), {.axis = 1});
  const Picked p = picked(call, onnx, log_p.dtype());
  return {cast_to_result(onnx, call, loss_at_targets(onnx, log_p, p))};
}

// What a sample counts in the reduced loss.
Value shares(const Call& call, Emit& onnx, const Picked& p) {
  return call.text("reduction") == "sum" ? p.weights
                                         : onnx.div(p.weights, sum_of_all(onnx, p.weights));
}

// The derivative by the scores: each sample's probabilities, less one at its target.
Value score_gradients(const Call& call, Emit& onnx, Value log_p, const Picked& p) {
  const Value classes = onnx.range(log_p.dim(1));
  const Value at_target = onnx.equal(classes, onnx.unsqueeze(p.places, {1}));
  const Value excess = onnx.sub(onnx.exp(log_p), onnx.cast(at_target, log_p.dtype()));
  return onnx.mul(excess, onnx.unsqueeze(shares(call, onnx, p), {1}));
}

// The loss, then its derivatives by input, weight and bias where they are asked for, else nothing
// in two dimensions or one.
Outputs linear_cross_entropy(const Call& call, Emit& onnx) {
  if (call.number("label_smoothing") != 0) call.refuse("label smoothing, as PyTorch does");
  const Value log_p = onnx.log_softmax(linear_scores(call, onnx), {.axis = 1});
  const Picked p = picked(call, onnx, log_p.dtype());
  Value loss = sum_of_all(onnx, loss_at_targets(onnx, log_p, p));
  if (call.text("reduction") == "mean") loss = onnx.div(loss, sum_of_all(onnx, p.weights));
  Outputs outputs = {cast_to_result(onnx, call, loss)};
  const auto add = [&](std::string_view flag, auto gradient) {
    const std::size_t i = outputs.size();
    if (!call.uses_output(i)) return outputs.push_back({});
    const DType dtype = call.result_dtype(i);
    if (call.flag(flag)) return outputs.push_back(onnx.cast(gradient(), dtype));
    outputs.push_back(onnx.full(call.result_shape(i), onnx.zero(dtype)));
  };
  const auto by_scores = [&] { return score_gradients(call, onnx, log_p, p); };
  add("compute_input_grad",
      [&] { return onnx.matmul(by_scores(), wide(call, onnx, "linear_weight")); });
  add("compute_linear_weight_grad",
      [&] { return onnx.matmul(onnx.transpose(by_scores(), {1, 0}), wide(call, onnx, "input")); });
  add("compute_linear_bias_grad",
      [&] { return onnx.reduce("ReduceSum", by_scores(), std::vector<std::int64_t>{0}, false); });
  return outputs;
}

constexpr Row kRows[] = {
    {"aten::cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, "
     "SymInt ignore_index=-100, float label_smoothing=0.) -> Tensor",
     cross_entropy_loss},
    {"aten::nll_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt "
     "ignore_index=-100) -> Tensor",
     nll_loss},
    {"aten::nll_loss2d(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt "
     "ignore_index=-100) -> Tensor",
     nll_loss},
    {"aten::nll_loss2d_forward(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt "
     "ignore_index) -> (Tensor output, Tensor total_weight)",
     nll_loss_forward},
    {"aten::nll_loss_forward(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt "
     "ignore_index) -> (Tensor output, Tensor total_weight)",
     nll_loss_forward},
    {"aten::nll_loss_nd(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt "
     "ignore_index=-100) -> Tensor",
     nll_loss},
    {"torch_nn::_linear_cross_entropy_batch_chunked(Tensor input, Tensor linear_weight, Tensor "
     "target, Tensor? linear_bias, Tensor? weight, str reduction, SymInt ignore_index, float "
     "label_smoothing, SymInt batch_chunk_size, str acc_policy, ScalarType acc_dtype, bool "
     "allow_retain_graph, bool compute_input_grad, bool compute_linear_weight_grad, bool "
     "compute_linear_bias_grad) -> (Tensor, Tensor, Tensor, Tensor)",
     linear_cross_entropy},
    {"torch_nn::_linear_cross_entropy_batch_chunked_no_reduction(Tensor input, Tensor "
     "linear_weight, Tensor target, Tensor? linear_bias, Tensor? weight, SymInt ignore_index, "
     "SymInt batch_chunk_size, str acc_policy, ScalarType acc_dtype) -> Tensor",
     linear_cross_entropy_unreduced},
};

}  // namespace

std::span<const Row> class_losses_rows() { return kRows; }

}  // namespace sardonyx::aten
