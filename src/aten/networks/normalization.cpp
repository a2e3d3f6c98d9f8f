// Layer, RMS, batch, instance and group normalization.
#include <array>
#include <limits>

#include "aten/families.h"

namespace sardonyx::aten {
namespace {

// The type in which PyTorch accumulates: half types compute in float32.
DType compute_type(DType dtype) { return base::bit_width(dtype) < 32 ? DType::kFloat32 : dtype; }

Value mean(Emit& onnx, Value x, const std::vector<std::int64_t>& axes) {
  return onnx.reduce("ReduceMean", x, axes, /*keep_dims=*/true);
}

std::vector<std::int64_t> trailing_axes(std::size_t count) {
  std::vector<std::int64_t> axes;
  for (std::size_t i = count; i > 0; --i) axes.push_back(-static_cast<std::int64_t>(i));
  return axes;
}

// [C] as [C, 1, ...] so that it lines up with axis 1 of a tensor of this rank.
Value per_channel(Emit& onnx, Value vector, std::int64_t rank) {
  std::vector<std::int64_t> axes;
  for (std::int64_t axis = 1; axis < rank - 1; ++axis) axes.push_back(axis);
  return onnx.unsqueeze(vector, axes);
}

Value ones(Emit& onnx, std::span<const Expr> shape, DType dtype) {
  return onnx.full(shape, onnx.one(dtype));
}

// (x - mean) / sqrt(variance + eps) with the statistics of these axes.
struct Normalized {
  Value x, mean, inverse_deviation;
};
Normalized normalize(Emit& onnx, Value x, const std::vector<std::int64_t>& axes, double eps) {
  const Value average = mean(onnx, x, axes);
  const Value centered = onnx.sub(x, average);
  const Value variance = mean(onnx, onnx.mul(centered, centered), axes);
  const Value inverse = onnx.reciprocal(onnx.sqrt(onnx.add(variance, onnx.scalar(eps, x.dtype()))));
  return {onnx.mul(centered, inverse), average, inverse};
}

Value affine(Emit& onnx, Value x, Value weight, Value bias) {
  if (weight) x = onnx.mul(x, onnx.cast(weight, x.dtype()));
  if (bias) x = onnx.add(x, onnx.cast(bias, x.dtype()));
  return x;
}

Value layer_norm_spelled_out(const Call& call, Emit& onnx, Value weight, Value bias) {
  const Value input = call.tensor("input");
  const std::vector<std::int64_t> axes = trailing_axes(call.sizes("normalized_shape").size());
  const Value x = onnx.cast(input, compute_type(input.dtype()));
  const Value normal = normalize(onnx, x, axes, call.number("eps")).x;
  return onnx.cast(affine(onnx, normal, weight, bias), input.dtype());
}

Outputs layer_norm(const Call& call, Emit& onnx) {
  const Value input = call.tensor("input");
  const std::vector<Expr> shape = call.sizes("normalized_shape");
  Value weight = call.optional_tensor("weight"), bias = call.optional_tensor("bias");
  // Mixed types (a float32 weight on a half input) are rare.
  if ((weight && weight.dtype() != input.dtype()) || (bias && bias.dtype() != input.dtype())) {
    return {layer_norm_spelled_out(call, onnx, weight, bias)};
  }
  if (!weight) weight = ones(onnx, shape, input.dtype());
  return {onnx.layer_normalization(input, weight, bias,
                                   {.axis = -static_cast<std::int64_t>(shape.size()),
                                    .epsilon = static_cast<float>(call.number("eps"))})};
}

Outputs native_layer_norm(const Call& call, Emit& onnx) {
  const Value input = call.tensor("input");
  const DType dtype = compute_type(input.dtype());
  const std::vector<std::int64_t> axes = trailing_axes(call.sizes("normalized_shape").size());
  if (!call.uses_output(1) && !call.uses_output(2)) {
    return layer_norm(call, onnx);
  }
  const Normalized normal = normalize(onnx, onnx.cast(input, dtype), axes, call.number("eps"));
  const Value result =
      affine(onnx, normal.x, call.optional_tensor("weight"), call.optional_tensor("bias"));
  const auto as = [&](Value x, std::size_t i) {
    return call.uses_output(i) ? onnx.cast(x, call.result_dtype(i)) : Value{};
  };
  return {as(result, 0), as(normal.mean, 1), as(normal.inverse_deviation, 2)};
}

double rms_epsilon(const Call& call, DType dtype) {
  if (const std::optional<double> eps = call.optional_number("eps")) return *eps;
  // torch.finfo(dtype).eps of the type PyTorch computes in.
  return dtype == DType::kFloat64 ? std::numeric_limits<double>::epsilon()
                                  : double{std::numeric_limits<float>::epsilon()};
}

Outputs rms_norm(const Call& call, Emit& onnx) {
  const Value input = call.tensor("input");
  const DType dtype = compute_type(input.dtype());
  const std::vector<Expr> shape = call.sizes("normalized_shape");
  const Value given = call.optional_tensor("weight");
  const Value weight = given ? onnx.cast(given, dtype) : ones(onnx, shape, dtype);
  const Value normal =
      onnx.rms_normalization(onnx.cast(input, dtype), weight,
                             {.axis = -static_cast<std::int64_t>(shape.size()),
                              .epsilon = static_cast<float>(rms_epsilon(call, dtype))});
  return {cast_to_result(onnx, call, normal)};
}

// The statistics of a batch, over every axis but the channels'.
std::vector<std::int64_t> batch_axes(std::int64_t rank) {
  std::vector<std::int64_t> axes = {0};
  for (std::int64_t axis = 2; axis < rank; ++axis) axes.push_back(axis);
  return axes;
}

Value batch_norm_with_batch_statistics(const Call& call, Emit& onnx) {
  const Value input = call.tensor("input");
  const std::int64_t rank = input.rank();
  const auto channel = [&](std::string_view name) -> Value {
    const Value vector = call.optional_tensor(name);
    return vector ? per_channel(onnx, vector, rank) : vector;
  };
  const Value x = onnx.cast(input, compute_type(input.dtype()));
  const Value normal = normalize(onnx, x, batch_axes(rank), call.number("eps")).x;
  return onnx.cast(affine(onnx, normal, channel("weight"), channel("bias")), input.dtype());
}

Value batch_norm_with_running_statistics(const Call& call, Emit& onnx) {
  const Value input = call.tensor("input");
  const Value mean = call.tensor("running_mean"), variance = call.tensor("running_var");
  const DType dtype = input.dtype();
  const Shape channels = mean.shape();
  Value weight = call.optional_tensor("weight"), bias = call.optional_tensor("bias");
  if (!weight) weight = ones(onnx, channels, dtype);
  if (!bias) bias = onnx.full(channels, onnx.zero(dtype));
  // Before opset 15 all inputs share one type.
  const auto as_input = [&](Value x) { return onnx.cast(x, dtype); };
  return onnx.batch_normalization(input, as_input(weight), as_input(bias), as_input(mean),
                                  as_input(variance),
                                  {.epsilon = static_cast<float>(call.number("eps"))});
}

bool is_empty(Value x) { return symbolic::product(x.shape()).is(0); }

Outputs batch_norm(const Call& call, Emit& onnx) {
  // PyTorch asks nothing of the statistics of no elements; their sizes may not fit.
  if (is_empty(call.tensor("input"))) return {call.tensor("input")};
  const bool use_batch = call.flag("training") || !call.has("running_mean");
  return {use_batch ? batch_norm_with_batch_statistics(call, onnx)
                    : batch_norm_with_running_statistics(call, onnx)};
}

// Its further outputs serve the backward pass and are empty in inference.
Outputs batch_norm_inference(const Call& call, Emit& onnx) {
  const auto empty = [&](std::size_t i) {
    return call.uses_output(i) ? onnx.full(call.result_shape(i), onnx.zero(call.result_dtype(i)))
                               : Value{};
  };
  return {batch_norm_with_running_statistics(call, onnx), empty(1), empty(2)};
}

// InstanceNormalization of [N, C, ...] with a scale and bias for each channel.
Value instance_normalization(Emit& onnx, Value x, Value weight, Value bias, double eps) {
  const std::array<Expr, 1> channels = {x.dim(1)};
  if (!weight) weight = ones(onnx, channels, x.dtype());
  if (!bias) bias = onnx.full(channels, onnx.zero(x.dtype()));
  return onnx.instance_normalization(x, onnx.cast(weight, x.dtype()), onnx.cast(bias, x.dtype()),
                                     {.epsilon = static_cast<float>(eps)});
}

Outputs instance_norm(const Call& call, Emit& onnx) {
  if (!call.flag("use_input_stats")) return {batch_norm_with_running_statistics(call, onnx)};
  return {instance_normalization(onnx, call.tensor("input"), call.optional_tensor("weight"),
                                 call.optional_tensor("bias"), call.number("eps"))};
}

// Each group of channels is one instance of [N, groups, everything else].
Value split_groups(Emit& onnx, Value x, std::int64_t groups) {
  Expr rest = 1;
  for (std::int64_t axis = 1; axis < x.rank(); ++axis) rest = rest * x.dim(axis);
  const Expr group_size = symbolic::exact_quotient(rest, groups);
  return onnx.reshape(
      x, {x.dim(0), groups, group_size.known() ? group_size : symbolic::floor_div(rest, groups)});
}

Value group_normalized(Emit& onnx, Value x, std::int64_t groups, double eps) {
  const Value split = split_groups(onnx, x, groups);
  return onnx.reshape_like(instance_normalization(onnx, split, {}, {}, eps), x);
}

// GroupNormalization has a scale and a bias, of the input's type.
Value group_normalization(const Call& call, Emit& onnx, std::int64_t groups) {
  const Value input = call.tensor("input"), weight = call.optional_tensor("weight"),
              bias = call.optional_tensor("bias");
  const bool alike =
      weight && bias && weight.dtype() == input.dtype() && bias.dtype() == input.dtype();
  if (!alike) return {};
  return onnx.group_normalization(
      input, weight, bias,
      {.epsilon = static_cast<float>(call.number("eps")), .num_groups = groups});
}

Outputs group_norm(const Call& call, Emit& onnx) {
  if (const Value normal = group_normalization(call, onnx, call.integer("num_groups")))
    return {normal};
  const Value input = call.tensor("input");
  const auto channel = [&](std::string_view name) -> Value {
    const Value vector = call.optional_tensor(name);
    return vector ? per_channel(onnx, vector, input.rank()) : vector;
  };
  const Value normal =
      group_normalized(onnx, input, call.integer("num_groups"), call.number("eps"));
  return {affine(onnx, normal, channel("weight"), channel("bias"))};
}

// The mean and inverse deviation of each group as [N, groups], of every element in float32 at
// least.
Outputs native_group_norm(const Call& call, Emit& onnx) {
  const Value input = call.tensor("input");
  const std::int64_t groups = call.integer("group");
  const auto channel = [&](std::string_view name) -> Value {
    const Value vector = call.optional_tensor(name);
    return vector ? per_channel(onnx, vector, input.rank()) : vector;
  };
  const Value weight = channel("weight"), bias = channel("bias");
  if (!call.uses_output(1) && !call.uses_output(2)) {
    if (const Value whole = group_normalization(call, onnx, groups)) return {whole, {}, {}};
    const Value normal = group_normalized(onnx, input, groups, call.number("eps"));
    return {affine(onnx, normal, weight, bias), {}, {}};
  }
  const Value x = onnx.cast(input, compute_type(input.dtype()));
  const Value split = split_groups(onnx, x, groups);
  const Normalized normal = normalize(onnx, split, {-1}, call.number("eps"));
  const Value result = affine(onnx, onnx.reshape_like(normal.x, x), weight, bias);
  const auto statistic = [&](Value value, std::size_t i) -> Value {
    if (!call.uses_output(i)) return {};
    return onnx.cast(onnx.squeeze(value, {-1}), call.result_dtype(i));
  };
  return {onnx.cast(result, input.dtype()), statistic(normal.mean, 1),
          statistic(normal.inverse_deviation, 2)};
}

constexpr Row kRows[] = {
    {"aten::_native_batch_norm_legit_no_training(Tensor input, Tensor? weight, Tensor? bias, "
     "Tensor "
     "running_mean, Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
     batch_norm_inference},
    {"aten::batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? "
     "running_var, bool training, float momentum, float eps, bool cudnn_enabled) -> Tensor",
     batch_norm},
    {"aten::group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float "
     "eps=1.0000000000000001e-05, bool cudnn_enabled=True) -> Tensor",
     group_norm},
    {"aten::instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, "
     "Tensor? "
     "running_var, bool use_input_stats, float momentum, float eps, bool cudnn_enabled) -> Tensor",
     instance_norm},
    {"aten::layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? "
     "bias=None, float eps=1.0000000000000001e-05, bool cudnn_enable=True) -> Tensor",
     layer_norm},
    {"aten::native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, "
     "SymInt "
     "HxW, int group, float eps) -> (Tensor, Tensor, Tensor)",
     native_group_norm},
    {"aten::native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? "
     "bias, "
     "float eps) -> (Tensor, Tensor, Tensor)",
     native_layer_norm},
    {"aten::rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, float? "
     "eps=None) "
     "-> Tensor",
     rms_norm},
};

}  // namespace

std::span<const Row> normalization_rows() { return kRows; }

}  // namespace sardonyx::aten
