// The forms of batch normalization that also return statistics: what one saves for the
// backward pass, and running ones brought up to date.
#include "aten/elementwise/operands.h"
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

// Mean and variance over some axes, which stay with size 1.
struct Statistics {
  Value mean, variance, inverse_deviation;
};

Value mean_of(Emit& onnx, Value x, const std::vector<std::int64_t>& axes) {
  return onnx.reduce("ReduceMean", x, axes, true);
}

Statistics statistics_of(Emit& onnx, Value x, const std::vector<std::int64_t>& axes, double eps) {
  const Value mean = mean_of(onnx, x, axes);
  const Value centered = onnx.sub(x, mean);
  const Value variance = mean_of(onnx, onnx.mul(centered, centered), axes);
  const Value deviation = onnx.sqrt(onnx.add(variance, onnx.scalar(eps, x.dtype())));
  return {mean, variance, onnx.reciprocal(deviation)};
}

// [C] against axis 1 of [N, C, ...].
Value per_channel(Emit& onnx, Value vector, std::int64_t rank, DType dtype) {
  std::vector<std::int64_t> axes;
  for (std::int64_t axis = 1; axis < rank - 1; ++axis) axes.push_back(axis);
  return onnx.unsqueeze(onnx.cast(vector, dtype), axes);
}

Value affine(const Call& call, Emit& onnx, Value x) {
  if (call.has("weight")) {
    x = onnx.mul(x, per_channel(onnx, call.tensor("weight"), x.rank(), x.dtype()));
  }
  if (call.has("bias")) {
    x = onnx.add(x, per_channel(onnx, call.tensor("bias"), x.rank(), x.dtype()));
  }
  return x;
}

std::vector<std::int64_t> all_but_channels(std::int64_t rank) {
  std::vector<std::int64_t> axes = {0};
  for (std::int64_t axis = 2; axis < rank; ++axis) axes.push_back(axis);
  return axes;
}

// A statistic as the call returns it; in inference PyTorch returns empty ones.
Value as_output(const Call& call, Emit& onnx, Value x, std::size_t i) {
  if (!call.uses_output(i)) return {};
  const Shape& shape = call.result_shape(i);
  if (shape.size() == 1 && shape[0].is(0)) {
    return onnx.full(shape, onnx.zero(call.result_dtype(i)));
  }
  return onnx.cast(onnx.reshape(x, shape), call.result_dtype(i));
}

// (1 - momentum) * running + momentum * batch
Value updated(const Call& call, Emit& onnx, std::string_view running, Value batch, std::size_t i) {
  if (!call.uses_output(i)) return {};
  const Value old = call.tensor(running);
  if (!batch) return old;
  const DType dtype = batch.dtype();
  const double momentum = call.number("momentum");
  const Value flat = onnx.reshape(batch, old.shape());
  const Value kept = onnx.mul(onnx.cast(old, dtype), onnx.scalar(1 - momentum, dtype));
  const Value mixed = onnx.add(kept, onnx.mul(flat, onnx.scalar(momentum, dtype)));
  return onnx.cast(mixed, old.dtype());
}

// The variance that is tracked divides by n - 1.
Value unbiased(Emit& onnx, Value variance, Value x) {
  Expr count = x.dim(0);
  for (std::int64_t axis = 2; axis < x.rank(); ++axis) count = count * x.dim(axis);
  const Value n = onnx.real_size(count, x.dtype());
  return onnx.mul(variance, onnx.div(n, onnx.sub(n, onnx.one(x.dtype()))));
}

// Outputs: result, two statistics for the backward pass, reserved bytes where the operator has
// them, the running statistics where it hands them out.
Outputs batch_norm(const Call& call, Emit& onnx, bool training, bool reserves) {
  const Value input = call.tensor("input");
  const Value x = onnx.cast(input, computing_type(input.dtype()));
  const bool tracked = call.captured().schema->find("running_mean") && call.has("running_mean");
  const double eps = call.number("eps");
  Statistics s;
  if (training || !tracked) {
    s = statistics_of(onnx, x, all_but_channels(x.rank()), eps);
  } else {
    s.mean = per_channel(onnx, call.tensor("running_mean"), x.rank(), x.dtype());
    const Value variance = per_channel(onnx, call.tensor("running_var"), x.rank(), x.dtype());
    const Value deviation = onnx.sqrt(onnx.add(variance, onnx.scalar(eps, x.dtype())));
    s.inverse_deviation = onnx.reciprocal(deviation);
  }
  const Value normal = onnx.mul(onnx.sub(x, s.mean), s.inverse_deviation);
  Outputs outputs = {cast_to_result(onnx, call, affine(call, onnx, normal)),
                     as_output(call, onnx, s.mean, 1),
                     as_output(call, onnx, s.inverse_deviation, 2)};
  if (reserves) outputs.push_back(as_output(call, onnx, s.mean, 3));
  if (outputs.size() < call.output_count()) {
    const std::size_t next = outputs.size();
    const Value variance = training ? unbiased(onnx, s.variance, x) : Value{};
    outputs.push_back(updated(call, onnx, "running_mean", training ? s.mean : Value{}, next));
    outputs.push_back(updated(call, onnx, "running_var", variance, next + 1));
  }
  return outputs;
}

Outputs native_batch_norm(const Call& call, Emit& onnx) {
  return batch_norm(call, onnx, call.flag("training"), false);
}
Outputs batch_norm_with_update(const Call& call, Emit& onnx) {
  return batch_norm(call, onnx, true, true);
}
Outputs batch_norm_no_update(const Call& call, Emit& onnx) {
  return batch_norm(call, onnx, false, true);
}

constexpr Row kRows[] = {
    {"aten::_batch_norm_no_update(Tensor input, Tensor? weight, Tensor? bias, Tensor? "
     "running_mean, Tensor? running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, "
     "Tensor)",
     batch_norm_no_update},
    {"aten::_batch_norm_with_update_functional(Tensor input, Tensor? weight, Tensor? bias, Tensor "
     "running_mean, Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, "
     "Tensor, Tensor running_mean_out, Tensor running_var_out)",
     batch_norm_with_update},
    {"aten::_native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? bias, bool "
     "training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
     native_batch_norm},
    {"aten::_native_batch_norm_legit_functional(Tensor input, Tensor? weight, Tensor? bias, Tensor "
     "running_mean, Tensor running_var, bool training, float momentum, float eps) -> (Tensor, "
     "Tensor, Tensor, Tensor running_mean_out, Tensor running_var_out)",
     native_batch_norm},
    {"aten::native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, "
     "Tensor? running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
     native_batch_norm},
};

}  // namespace

std::span<const Row> native_normalization_rows() { return kRows; }

}  // namespace sardonyx::aten
