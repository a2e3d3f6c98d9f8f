// Operators on quantized tensors and packed weights: what they compute between dequantizing and
// quantizing.
#include <algorithm>
#include <string>
#include <utility>

#include "frontends/torchscript/recording/quantized.h"

namespace sardonyx::torchscript {

using Kind = AbstractValue::Kind;

namespace {

constexpr std::string_view kSpace = "quantized::", kRelu = "_relu";

// What an operator is given before the scale and zero point of its result, and these two.
struct Call {
  std::string name;  // "conv2d"
  bool relu = false;
  std::vector<AbstractValue> rest;
  Affine affine;
};

Call call_of(const Operands& operands, base::DType dtype) {
  Call call;
  call.name = operands.op.substr(kSpace.size());
  call.relu = call.name.ends_with(kRelu) && call.name != "leaky_relu";
  if (call.relu) call.name.resize(call.name.size() - kRelu.size());
  call.rest = operands.positional;
  const auto by_name = [&](std::string_view name) -> const AbstractValue* {
    const auto found = std::ranges::find(operands.named, name, &NamedValue::first);
    return found == operands.named.end() ? nullptr : &found->second;
  };
  const AbstractValue *scale = by_name("output_scale"), *zero_point = by_name("output_zero_point");
  if (!scale) scale = by_name("scale");
  if (!zero_point) zero_point = by_name("zero_point");
  if (!scale && !zero_point && call.rest.size() > 2) {
    const std::size_t last = call.rest.size() - 1;
    call.affine = {call.rest[last - 1], call.rest[last], {}, dtype};
    call.rest.resize(last - 1);
  } else if (scale && zero_point) {
    call.affine = {*scale, *zero_point, {}, dtype};
  } else {
    refuse(operands.op + " is given no scale and zero point of its result");
  }
  return call;
}

// An argument before the result's scale and zero point.
const AbstractValue& rest_of(const Call& call, std::size_t position) {
  if (position >= call.rest.size())
    base::fail("SX1211", "a layer of quantized tensors is given too few arguments");
  return call.rest[position];
}

base::DType type_of(const Operands& operands) {
  const AbstractValue& first = operands.at(0);
  const AbstractValue& q =
      first.kind == Kind::kList && !first.held->items.empty() ? first.held->items.front() : first;
  if (!is_quantized(q)) refuse(operands.op + " of " + description(q));
  return affine_of(q).dtype;
}

AbstractValue result(GraphRecorder& recorder, const Call& call, AbstractValue x) {
  if (call.relu) x = recorder.call("aten::relu", {x});
  return requantized(recorder, x, call.affine);
}

// (qx, packed, scale, zero_point)
std::optional<AbstractValue> linear(GraphRecorder& recorder, const Operands& operands) {
  const Call call = call_of(operands, type_of(operands));
  const Packed packed = unpacked(recorder, operands.find(1, "W_prepack"));
  const AbstractValue x = dequantized(recorder, rest_of(call, 0));
  return result(recorder, call,
                recorder.call("aten::linear", {x, as_float(recorder, packed.weight), packed.bias}));
}

std::size_t rank_of(GraphRecorder& recorder, const AbstractValue& tensor) {
  return recorder.tensor(tensor)->rank();
}

// One dimension is packed as two, of which the first has one element.
AbstractValue convolution(GraphRecorder& recorder, const AbstractValue& x, const Packed& packed) {
  AbstractValue weight = as_float(recorder, packed.weight);
  const std::size_t rank = rank_of(recorder, x);
  const bool is_known =
      packed.geometry.size() == 6 &&
      std::all_of(packed.geometry.begin(), packed.geometry.begin() + 4,
                  [](const AbstractValue& each) { return each.kind == Kind::kList; });
  if (!is_known) refuse("packed weights of no convolution");
  if (rank < rank_of(recorder, weight))
    weight = recorder.call("aten::squeeze", {weight, AbstractValue::of_int(2)});
  if (rank != rank_of(recorder, weight))
    refuse("a quantized convolution of a tensor without a batch");
  const std::size_t spatial = rank - 2;
  std::vector<AbstractValue> arguments = {x, weight, packed.bias};
  for (std::size_t i = 0; i < 4; ++i) {
    if (i == 3) arguments.push_back(packed.geometry[5]);
    std::vector<AbstractValue> each = packed.geometry[i].held->items;
    if (each.size() < spatial) refuse("packed weights of fewer dimensions");
    each.erase(each.begin(), each.end() - static_cast<std::ptrdiff_t>(spatial));
    arguments.push_back(AbstractValue::of_items(Kind::kList, std::move(each)));
  }
  arguments.push_back(packed.geometry[4]);
  return recorder.call("aten::convolution", std::move(arguments));
}

// (qx, packed, scale, zero_point); older forms repeat strides and paddings between.
std::optional<AbstractValue> convolved(GraphRecorder& recorder, const Operands& operands) {
  const Call call = call_of(operands, type_of(operands));
  const Packed packed = unpacked(recorder, operands.find(1, "packed_weight"));
  return result(recorder, call,
                convolution(recorder, dequantized(recorder, rest_of(call, 0)), packed));
}

// (x, packed, reduce_range): x is quantized by what it holds.
std::optional<AbstractValue> convolved_dynamic(GraphRecorder& recorder, const Operands& operands) {
  const Packed packed = unpacked(recorder, operands.find(1, "packed_weight"));
  const AbstractValue* reduced = operands.find(2, "reduce_range");
  const AbstractValue x = recorder.call("aten::quantize_per_tensor_dynamic",
                                        {operands.at(0), AbstractValue::of_int(13),
                                         reduced ? *reduced : AbstractValue::of_bool(true)});
  return convolution(recorder, dequantized(recorder, x), packed);
}

// (qx, ..., scale, zero_point), with the operator on plain tensors of this name between.
std::optional<AbstractValue> plain(GraphRecorder& recorder, const Operands& operands) {
  Call call = call_of(operands, type_of(operands));
  for (AbstractValue& each : call.rest) each = as_float(recorder, each);
  return result(recorder, call, recorder.call("aten::" + call.name, std::move(call.rest)));
}

// (qx, negative_slope, inplace, scale, zero_point)
std::optional<AbstractValue> leaky_relu(GraphRecorder& recorder, const Operands& operands) {
  const Call call = call_of(operands, type_of(operands));
  const AbstractValue x = dequantized(recorder, rest_of(call, 0));
  return result(recorder, call, recorder.call("aten::leaky_relu", {x, rest_of(call, 1)}));
}

// (tensors, dim, scale, zero_point), the last two of the first tensor where they are None.
std::optional<AbstractValue> joined(GraphRecorder& recorder, const Operands& operands) {
  Call call = call_of(operands, type_of(operands));
  const std::vector<AbstractValue> tensors = rest_of(call, 0).held->items;
  std::vector<AbstractValue> floats;
  for (const AbstractValue& each : tensors) floats.push_back(as_float(recorder, each));
  const Affine first = affine_of(tensors.front());
  if (call.affine.scale.is_none()) call.affine.scale = first.scale;
  if (call.affine.zero_point.is_none()) call.affine.zero_point = first.zero_point;
  return result(recorder, call,
                recorder.call("aten::cat", {AbstractValue::of_items(Kind::kList, std::move(floats)),
                                            rest_of(call, 1)}));
}

// (qx, weight, bias, mean, var, eps, scale, zero_point)
std::optional<AbstractValue> batch_norm(GraphRecorder& recorder, const Operands& operands) {
  const Call call = call_of(operands, type_of(operands));
  const std::vector<AbstractValue>& given = call.rest;
  if (given.size() != 6) refuse(operands.op + " is given another number of arguments");
  return result(recorder, call,
                recorder.call("aten::batch_norm",
                              {dequantized(recorder, given[0]), given[1], given[2], given[3],
                               given[4], AbstractValue::of_bool(false), AbstractValue::of_real(0),
                               given[5], AbstractValue::of_bool(false)}));
}

// (qx, weight, bias, eps, scale, zero_point)
std::optional<AbstractValue> instance_norm(GraphRecorder& recorder, const Operands& operands) {
  const Call call = call_of(operands, type_of(operands));
  const std::vector<AbstractValue>& given = call.rest;
  if (given.size() != 4) refuse(operands.op + " is given another number of arguments");
  return result(
      recorder, call,
      recorder.call("aten::instance_norm",
                    {dequantized(recorder, given[0]), given[1], given[2], AbstractValue(),
                     AbstractValue(), AbstractValue::of_bool(true), AbstractValue::of_real(0),
                     given[3], AbstractValue::of_bool(false)}));
}

// (qx, scale, zero_point, alpha, ...)
std::optional<AbstractValue> elu(GraphRecorder& recorder, const Operands& operands) {
  const std::vector<AbstractValue>& given = operands.positional;
  if (given.size() < 3) refuse(operands.op + " is given too few arguments");
  std::vector<AbstractValue> plain = {dequantized(recorder, given[0])};
  plain.insert(plain.end(), given.begin() + 3, given.end());
  return requantized(recorder, recorder.call("aten::elu", std::move(plain)),
                     {given[1], given[2], {}, affine_of(given[0]).dtype});
}

// (packed, indices, ...)
std::optional<AbstractValue> embedding(GraphRecorder& recorder, const Operands& operands) {
  const Packed packed = unpacked(recorder, &operands.at(0));
  return recorder.call("aten::embedding", {as_float(recorder, packed.weight), operands.at(1)});
}

// (weight, bias, stride, padding, [output padding,] dilation, groups)
std::optional<AbstractValue> packed_convolution(GraphRecorder&, const Operands& operands) {
  const bool transposed = operands.op.find("transpose") != std::string::npos;
  const std::vector<AbstractValue>& given = operands.positional;
  const std::size_t lists = transposed ? 4 : 3;
  if (given.size() != lists + 3 ||
      !std::all_of(given.begin() + 2, given.begin() + 2 + static_cast<std::ptrdiff_t>(lists),
                   [](const AbstractValue& each) { return each.kind == Kind::kList; }))
    refuse(operands.op + " is given other arguments than lists");
  const bool is_1d = operands.op.ends_with("1d_prepack");
  const auto sizes = [&](const AbstractValue& list, std::int64_t filling) {
    std::vector<AbstractValue> items = list.held->items;
    if (is_1d) items.insert(items.begin(), AbstractValue::of_int(filling));
    return AbstractValue::of_items(Kind::kList, std::move(items));
  };
  std::vector<AbstractValue> zeros(given[2].held->items.size(), AbstractValue::of_int(0));
  const AbstractValue none = AbstractValue::of_items(Kind::kList, std::move(zeros));
  AbstractValue made = AbstractValue::of_items(
      Kind::kObject, {given[0], given[1], sizes(given[2], 1), sizes(given[3], 0),
                      sizes(given[transposed ? 5 : 4], 1), sizes(transposed ? given[4] : none, 0),
                      given.back(), AbstractValue::of_bool(transposed)});
  made.held->type = "__torch__.torch.classes.quantized.Conv2dPackedParamsBase";
  made.held->names = {"weight",   "bias",           "stride", "padding",
                      "dilation", "output_padding", "groups", "transposed"};
  return made;
}

// (weight, bias)
std::optional<AbstractValue> packed_linear(GraphRecorder&, const Operands& operands) {
  const AbstractValue* bias = operands.find(1, "B");
  AbstractValue made =
      AbstractValue::of_items(Kind::kObject, {operands.at(0), bias ? *bias : AbstractValue()});
  if (!made.held->items[0].held && !made.held->items[0].stored)
    refuse("a weight is packed that is computed");
  made.held->type = "__torch__.torch.classes.quantized.LinearPackedParamsBase";
  made.held->names = {"weight", "bias"};
  return made;
}

}  // namespace

void add_packed_layer_builtins(BuiltinTable& table) {
  const std::pair<std::string_view, Builtin> rows[] = {
      {"quantized::linear", linear},
      {"quantized::linear_relu", linear},
      {"quantized::linear_prepack", packed_linear},
      {"quantized::linear_prepack_fp16", packed_linear},
      {"quantized::conv1d", convolved},
      {"quantized::conv2d", convolved},
      {"quantized::conv3d", convolved},
      {"quantized::conv1d_relu", convolved},
      {"quantized::conv2d_relu", convolved},
      {"quantized::conv3d_relu", convolved},
      {"quantized::conv1d_dynamic", convolved_dynamic},
      {"quantized::conv2d_dynamic", convolved_dynamic},
      {"quantized::conv3d_dynamic", convolved_dynamic},
      {"quantized::conv_transpose1d", convolved},
      {"quantized::conv_transpose2d", convolved},
      {"quantized::conv_transpose3d", convolved},
      {"quantized::conv_transpose1d_dynamic", convolved_dynamic},
      {"quantized::conv_transpose2d_dynamic", convolved_dynamic},
      {"quantized::conv_transpose3d_dynamic", convolved_dynamic},
      {"quantized::conv1d_prepack", packed_convolution},
      {"quantized::conv2d_prepack", packed_convolution},
      {"quantized::conv3d_prepack", packed_convolution},
      {"quantized::conv_transpose1d_prepack", packed_convolution},
      {"quantized::conv_transpose2d_prepack", packed_convolution},
      {"quantized::conv_transpose3d_prepack", packed_convolution},
      {"quantized::add", plain},
      {"quantized::add_relu", plain},
      {"quantized::mul", plain},
      {"quantized::mul_relu", plain},
      {"quantized::matmul", plain},
      {"quantized::hardswish", plain},
      {"quantized::sigmoid", plain},
      {"quantized::softmax", plain},
      {"quantized::layer_norm", plain},
      {"quantized::group_norm", plain},
      {"quantized::prelu", plain},
      {"quantized::leaky_relu", leaky_relu},
      {"quantized::elu", elu},
      {"quantized::cat", joined},
      {"quantized::cat_relu", joined},
      {"quantized::batch_norm", batch_norm},
      {"quantized::batch_norm_relu", batch_norm},
      {"quantized::batch_norm1d", batch_norm},
      {"quantized::batch_norm1d_relu", batch_norm},
      {"quantized::batch_norm2d", batch_norm},
      {"quantized::batch_norm2d_relu", batch_norm},
      {"quantized::batch_norm3d", batch_norm},
      {"quantized::batch_norm3d_relu", batch_norm},
      {"quantized::instance_norm", instance_norm},
      {"quantized::embedding_byte", embedding},
  };
  for (const auto& [name, function] : rows) table.emplace(name, function);
}

}  // namespace sardonyx::torchscript
