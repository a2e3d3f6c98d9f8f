// What makes quantized tensors, and what operators on plain tensors do with them.
#include "frontends/torchscript/recording/quantized.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>

namespace sardonyx::torchscript {

using base::DType;
using Kind = AbstractValue::Kind;

namespace {

// --- made of others

DType integers_of_type(const AbstractValue* dtype) {
  const auto number = dtype && dtype->kind == Kind::kInt ? dtype->expr.constant() : std::nullopt;
  for (const DType each : {DType::kInt8, DType::kUInt8, DType::kInt32})
    if (number == quantized_type_number(each)) return each;
  refuse("a tensor is quantized to a type that PyTorch computes nothing in");
}

const AbstractValue& operand(const Operands& operands, std::size_t position,
                             std::string_view name) {
  const AbstractValue* found = operands.find(position, name);
  if (!found) refuse(operands.op + " lacks its argument '" + std::string(name) + "'");
  return *found;
}

// (x, scale, zero_point, dtype)
std::optional<AbstractValue> quantize_per_tensor(GraphRecorder& recorder,
                                                 const Operands& operands) {
  const AbstractValue x = operands.at(0);
  if (!x.is_tensor()) refuse("several tensors are quantized at once");
  return rounded(recorder, x,
                 {operand(operands, 1, "scale"),
                  operand(operands, 2, "zero_point"),
                  {},
                  integers_of_type(operands.find(3, "dtype"))});
}

// (x, dtype, reduce_range)
std::optional<AbstractValue> quantize_dynamic(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue x = operands.at(0);
  const DType dtype = integers_of_type(operands.find(1, "dtype"));
  const AbstractValue* reduced = operands.find(2, "reduce_range");
  const std::int64_t half = reduced && reduced->expr.is(1) ? 2 : 1;
  constexpr double kLeastScale = 1e-12;
  const AbstractValue made = recorder.call(
      "quantized_decomposed::choose_qparams",
      {x, AbstractValue::of_int(base::integer_min(dtype) / half),
       AbstractValue::of_int(static_cast<std::int64_t>(base::integer_max(dtype)) / half),
       AbstractValue::of_real(kLeastScale), AbstractValue::of_int(integer_type_number(dtype))});
  return rounded(recorder, x, {made.held->items.at(0), made.held->items.at(1), {}, dtype});
}

// Not negative.
AbstractValue axis_of(GraphRecorder& recorder, const AbstractValue& x, const AbstractValue& axis) {
  const auto rank = static_cast<std::int64_t>(recorder.tensor(x)->rank());
  const std::int64_t known = known_integer(axis, "the axis of a quantization");
  return AbstractValue::of_int(known < 0 ? known + rank : known);
}

// (x, scales, zero_points, axis, dtype)
std::optional<AbstractValue> quantize_per_channel(GraphRecorder& recorder,
                                                  const Operands& operands) {
  const AbstractValue x = operands.at(0);
  return rounded(recorder, x,
                 {operand(operands, 1, "scales"), operand(operands, 2, "zero_points"),
                  axis_of(recorder, x, operand(operands, 3, "axis")),
                  integers_of_type(operands.find(4, "dtype"))});
}

// (integers, scale, zero_point)
std::optional<AbstractValue> of_integers(GraphRecorder&, const Operands& operands) {
  return quantized_value(operands.at(0), operand(operands, 1, "scale"),
                         operand(operands, 2, "zero_point"));
}

// --- questions

std::optional<AbstractValue> asked_of_integers(GraphRecorder& recorder, const Operands& operands) {
  Operands own = operands;
  own.positional[0] = integers_of(operands.positional[0]);
  return recorder.call(own.op, own.positional, own.named);
}

std::optional<AbstractValue> dtype(GraphRecorder&, const Operands& operands) {
  return AbstractValue::of_int(quantized_type_number(affine_of(operands.positional[0]).dtype));
}

std::optional<AbstractValue> yes(GraphRecorder&, const Operands&) {
  return AbstractValue::of_bool(true);
}
std::optional<AbstractValue> no(GraphRecorder&, const Operands&) {
  return AbstractValue::of_bool(false);
}

template <std::size_t part>
std::optional<AbstractValue> part_of(GraphRecorder&, const Operands& operands) {
  return operands.positional[0].held->items.at(part);
}

std::optional<AbstractValue> to_float(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue& given = operands.positional[0];
  if (is_quantized(given)) return dequantized(recorder, given);
  std::vector<AbstractValue> each;
  for (const AbstractValue& item : given.held->items) each.push_back(as_float(recorder, item));
  return AbstractValue::of_items(Kind::kList, std::move(each));
}

// --- the same elements elsewhere, and functions that keep scale and zero point

bool is_per_channel(const AbstractValue& q) { return !affine_of(q).axis.is_none(); }

void refuse_channels(const Operands& operands) {
  if (is_per_channel(operands.positional[0]))
    refuse(operands.op + " of a tensor that is quantized per channel",
           "dequantize() the tensor before it");
}

AbstractValue with_integers(const AbstractValue& q, const AbstractValue& integers) {
  if (integers.is_tensor()) {
    const Affine affine = affine_of(q);
    return quantized_value(integers, affine.scale, affine.zero_point, affine.axis);
  }
  std::vector<AbstractValue> each;
  for (const AbstractValue& item : integers.held->items) each.push_back(with_integers(q, item));
  return AbstractValue::of_items(integers.kind, std::move(each));
}

std::optional<AbstractValue> copied(GraphRecorder& recorder, const Operands& operands) {
  return with_integers(operands.positional[0], *asked_of_integers(recorder, operands));
}

std::optional<AbstractValue> moved(GraphRecorder& recorder, const Operands& operands) {
  refuse_channels(operands);
  return copied(recorder, operands);
}

// pad(q, sizes, mode, value), whose filling is quantized as the elements are.
AbstractValue bound(GraphRecorder& recorder, const Affine& affine, const AbstractValue* number);

std::optional<AbstractValue> padded(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue* mode = operands.find(2, "mode");
  if (mode && mode->text != "constant") return moved(recorder, operands);
  refuse_channels(operands);
  const AbstractValue& q = operands.positional[0];
  const Affine affine = affine_of(q);
  const AbstractValue* value = operands.find(mode ? 3 : 2, "value");
  const AbstractValue filling =
      value && !value->is_none() ? bound(recorder, affine, value) : affine.zero_point;
  const AbstractValue& sizes = operand(operands, 1, "pad");
  return with_integers(q, recorder.call("aten::constant_pad_nd", {integers_of(q), sizes, filling}));
}

// A function computed on whole steps, in float32, which are exact there.
AbstractValue in_steps(GraphRecorder& recorder, const AbstractValue& q, bool zero_point_last,
                       const std::function<AbstractValue(const AbstractValue&)>& function) {
  constexpr std::int64_t kFloat32 = 6;
  const Affine affine = affine_of(q);
  const AbstractValue wide =
      recorder.call("aten::to", {integers_of(q), AbstractValue::of_int(kFloat32)});
  AbstractValue steps = function(recorder.call("aten::sub", {wide, affine.zero_point}));
  if (zero_point_last) steps = recorder.call("aten::round", {steps});
  steps = recorder.call("aten::round", {recorder.call("aten::add", {steps, affine.zero_point})});
  const AbstractValue type = AbstractValue::of_int(integer_type_number(affine.dtype));
  return with_integers(q, recorder.call("aten::to", {steps, type}));
}

AbstractValue called_in_steps(GraphRecorder& recorder, const Operands& operands,
                              bool zero_point_last) {
  refuse_channels(operands);
  const auto call = [&](const AbstractValue& steps) {
    std::vector<AbstractValue> arguments = operands.positional;
    arguments[0] = steps;
    return recorder.call(operands.op, std::move(arguments), operands.named);
  };
  return in_steps(recorder, operands.positional[0], zero_point_last, call);
}

std::optional<AbstractValue> pooled(GraphRecorder& recorder, const Operands& operands) {
  return called_in_steps(recorder, operands, false);
}

// Rounded as quantize_per_tensor rounds.
std::optional<AbstractValue> resampled(GraphRecorder& recorder, const Operands& operands) {
  return called_in_steps(recorder, operands, recorder.options().zero_point_after_rounding);
}

// What in-place forms give is written into the tensor that they are given.
std::optional<AbstractValue> kept(GraphRecorder& recorder, const Operands& operands,
                                  const AbstractValue& result) {
  if (!operands.op.ends_with('_')) return result;
  const AbstractValue& q = operands.positional[0];
  recorder.call("aten::copy_", {integers_of(q), integers_of(result)});
  return q;
}

std::optional<AbstractValue> relu(GraphRecorder& recorder, const Operands& operands) {
  refuse_channels(operands);
  const AbstractValue& q = operands.positional[0];
  const AbstractValue above =
      recorder.call("aten::clamp_min", {integers_of(q), affine_of(q).zero_point});
  return kept(recorder, operands, with_integers(q, above));
}

// A bound is quantized as the elements are, in the model where scale or zero point are computed.
AbstractValue bound(GraphRecorder& recorder, const Affine& affine, const AbstractValue* number) {
  if (!number || number->is_none()) return {};
  const bool is_real = number->kind == Kind::kFloat && !number->expr.known();
  const auto integer = number->kind == Kind::kInt ? number->expr.constant() : std::nullopt;
  if (!is_real && !integer)
    refuse("a bound of a quantized tensor is computed", "dequantize() the tensor before it");
  const auto zero_point =
      affine.zero_point.kind == Kind::kInt ? affine.zero_point.expr.constant() : std::nullopt;
  if (!zero_point || affine.scale.kind != Kind::kFloat || affine.scale.expr.known()) {
    constexpr std::int64_t kFloat32 = 6;
    const AbstractValue x = recorder.call("aten::scalar_tensor", {*number},
                                          {{"dtype", AbstractValue::of_int(kFloat32)}});
    return integers_of(rounded(recorder, x, {affine.scale, affine.zero_point, {}, affine.dtype}));
  }
  const double value = is_real ? number->real : static_cast<double>(*integer);
  const double steps = value / affine.scale.real;
  const auto zero = static_cast<double>(*zero_point);
  const double whole = recorder.options().zero_point_after_rounding ? std::nearbyint(steps) + zero
                                                                    : std::nearbyint(steps + zero);
  const auto least = static_cast<double>(base::integer_min(affine.dtype));
  const auto most = static_cast<double>(base::integer_max(affine.dtype));
  return AbstractValue::of_int(static_cast<std::int64_t>(std::clamp(whole, least, most)));
}

std::optional<AbstractValue> between(GraphRecorder& recorder, const Operands& operands,
                                     const AbstractValue* least, const AbstractValue* most) {
  refuse_channels(operands);
  const AbstractValue& q = operands.positional[0];
  const Affine affine = affine_of(q);
  const AbstractValue clamped = recorder.call(
      "aten::clamp",
      {integers_of(q), bound(recorder, affine, least), bound(recorder, affine, most)});
  return kept(recorder, operands, with_integers(q, clamped));
}

std::optional<AbstractValue> clamp(GraphRecorder& recorder, const Operands& operands) {
  return between(recorder, operands, operands.find(1, "min"), operands.find(2, "max"));
}

std::optional<AbstractValue> hardtanh(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue least = AbstractValue::of_real(-1), most = AbstractValue::of_real(1);
  const AbstractValue *min_val = operands.find(1, "min_val"),
                      *max_val = operands.find(2, "max_val");
  return between(recorder, operands, min_val ? min_val : &least, max_val ? max_val : &most);
}

std::optional<AbstractValue> relu6(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue least = AbstractValue::of_real(0), most = AbstractValue::of_real(6);
  return between(recorder, operands, &least, &most);
}

// Other than pools, it rounds before it adds the zero point.
std::optional<AbstractValue> leaky_relu(GraphRecorder& recorder, const Operands& operands) {
  refuse_channels(operands);
  const AbstractValue* given = operands.find(1, "negative_slope");
  const AbstractValue slope = given ? *given : AbstractValue::of_real(0.01);
  const AbstractValue made =
      in_steps(recorder, operands.positional[0], true, [&](const AbstractValue& steps) {
        return recorder.call("aten::leaky_relu", {steps, slope});
      });
  return kept(recorder, operands, made);
}

// A function onto [least, least + width], which 256 steps make up whatever its argument's.
template <std::int64_t least, std::int64_t width>
std::optional<AbstractValue> onto(GraphRecorder& recorder, const Operands& operands) {
  refuse_channels(operands);
  const AbstractValue& q = operands.positional[0];
  const DType type = affine_of(q).dtype;
  const AbstractValue x = recorder.call(operands.op, {dequantized(recorder, q)});
  const std::int64_t zero_point = base::integer_min(type) + (least == 0 ? 0 : 128);
  const AbstractValue scale = AbstractValue::of_real(static_cast<double>(width) / 256);
  return requantized(recorder, x, {scale, AbstractValue::of_int(zero_point), {}, type});
}

// cat(tensors, dim) of the scale of the first.
std::optional<AbstractValue> joined(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue list = operands.positional[0];
  const AbstractValue* dim = operands.find(1, "dim");
  std::vector<AbstractValue> floats;
  for (const AbstractValue& each : list.held->items) floats.push_back(as_float(recorder, each));
  const AbstractValue x =
      recorder.call("aten::cat", {AbstractValue::of_items(Kind::kList, std::move(floats)),
                                  dim ? *dim : AbstractValue::of_int(0)});
  const AbstractValue& first = list.held->items.front();
  if (!is_quantized(first) || is_per_channel(first))
    refuse("quantized tensors are joined with others, or per channel",
           "dequantize() them before it");
  return requantized(recorder, x, affine_of(first));
}

void add_rows(BuiltinTable& table, std::string_view names, Builtin builtin) {
  while (!names.empty()) {
    const std::size_t space = std::min(names.find(' '), names.size());
    if (space > 0) table.emplace(names.substr(0, space), builtin);
    names.remove_prefix(std::min(space + 1, names.size()));
  }
}

const BuiltinTable& own_meanings() {
  static const BuiltinTable kTable = [] {
    BuiltinTable table;
    add_rows(table,
             "aten::size aten::dim aten::numel aten::len prim::device prim::layout "
             "prim::is_cuda prim::is_mkldnn prim::is_sparse aten::is_contiguous "
             "prim::requires_grad",
             asked_of_integers);
    add_rows(table, "prim::dtype", dtype);
    add_rows(table, "prim::is_quantized", yes);
    add_rows(table, "aten::is_floating_point aten::is_complex", no);
    add_rows(table, "aten::int_repr", part_of<0>);
    add_rows(table, "aten::q_scale aten::q_per_channel_scales", part_of<1>);
    add_rows(table, "aten::q_zero_point aten::q_per_channel_zero_points", part_of<2>);
    add_rows(table, "aten::q_per_channel_axis", part_of<3>);
    add_rows(table, "aten::dequantize", to_float);
    add_rows(table, "aten::clone aten::contiguous aten::detach aten::alias aten::cpu", copied);
    add_rows(table,
             "aten::as_strided aten::chunk aten::expand aten::flatten aten::flip "
             "aten::index_select aten::movedim "
             "aten::narrow aten::permute aten::repeat aten::reshape aten::roll aten::select "
             "aten::slice aten::split aten::split_with_sizes aten::squeeze aten::swapaxes aten::t "
             "aten::tensor_split aten::transpose aten::unbind aten::unflatten aten::unsqueeze "
             "aten::view aten::reflection_pad1d aten::reflection_pad2d aten::replication_pad1d "
             "aten::replication_pad2d aten::pixel_shuffle",
             moved);
    add_rows(table,
             "aten::adaptive_avg_pool1d aten::adaptive_avg_pool2d aten::adaptive_avg_pool3d "
             "aten::avg_pool1d aten::avg_pool2d aten::avg_pool3d aten::max_pool1d "
             "aten::max_pool2d aten::max_pool3d aten::mean",
             pooled);
    add_rows(table,
             "aten::upsample_nearest1d aten::upsample_nearest2d aten::upsample_nearest3d "
             "aten::upsample_bilinear2d",
             resampled);
    add_rows(table, "aten::pad aten::constant_pad_nd", padded);
    add_rows(table, "aten::relu aten::relu_", relu);
    add_rows(table, "aten::relu6 aten::relu6_", relu6);
    add_rows(table, "aten::hardtanh aten::hardtanh_", hardtanh);
    add_rows(table, "aten::clamp aten::clamp_", clamp);
    add_rows(table, "aten::leaky_relu aten::leaky_relu_", leaky_relu);
    add_rows(table, "aten::sigmoid aten::hardsigmoid", onto<0, 1>);
    add_rows(table, "aten::tanh", onto<-1, 2>);
    add_rows(table, "aten::cat", joined);
    return table;
  }();
  return kTable;
}

}  // namespace

std::optional<AbstractValue> quantized_builtin(GraphRecorder& recorder, const Operands& operands) {
  if (operands.positional.empty()) return std::nullopt;
  const AbstractValue& first = operands.positional.front();
  const bool is_list = (first.kind == Kind::kList || first.kind == Kind::kTuple) &&
                       std::ranges::any_of(first.held->items, is_quantized);
  const bool takes_list = operands.op == "aten::cat" || operands.op == "aten::dequantize";
  if (!is_quantized(first) && !(is_list && takes_list)) return std::nullopt;
  const auto found = own_meanings().find(operands.op);
  return found == own_meanings().end() ? std::nullopt : found->second(recorder, operands);
}

void add_quantized_builtins(BuiltinTable& table) {
  add_rows(table, "aten::quantize_per_tensor", quantize_per_tensor);
  add_rows(table, "aten::quantize_per_tensor_dynamic", quantize_dynamic);
  add_rows(table, "aten::quantize_per_channel", quantize_per_channel);
  add_rows(table, "aten::_make_per_tensor_quantized_tensor", of_integers);
}

}  // namespace sardonyx::torchscript
