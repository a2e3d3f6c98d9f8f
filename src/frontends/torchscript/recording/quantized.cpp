#include "frontends/torchscript/recording/quantized.h"

#include <utility>

#include "base/diagnostic.h"

namespace sardonyx::torchscript {

using base::DType;
using Kind = AbstractValue::Kind;

namespace {

constexpr std::int64_t kInt64 = 4, kFloat32 = 6, kFloat64 = 7;

bool is_known(const Affine& affine) {
  return affine.scale.kind == Kind::kFloat && !affine.scale.expr.known() &&
         affine.zero_point.kind == Kind::kInt && affine.zero_point.expr.is_constant();
}

// quantize or dequantize of quantized_decomposed, with the bounds that the integers have.
AbstractValue decomposed(GraphRecorder& recorder, const std::string& verb, const AbstractValue& x,
                         const Affine& affine) {
  const bool by_channel = !affine.axis.is_none();
  std::vector<AbstractValue> arguments = {x, affine.scale, affine.zero_point};
  if (by_channel) {
    arguments.push_back(affine.axis);
  } else if (!is_known(affine)) {
    arguments[1] = scalar_tensor(recorder, affine.scale, kFloat64);
    arguments[2] = scalar_tensor(recorder, affine.zero_point, kInt64);
  }
  arguments.push_back(AbstractValue::of_int(base::integer_min(affine.dtype)));
  arguments.push_back(
      AbstractValue::of_int(static_cast<std::int64_t>(base::integer_max(affine.dtype))));
  arguments.push_back(AbstractValue::of_int(integer_type_number(affine.dtype)));
  const std::string suffix = by_channel ? "_per_channel" : "_per_tensor";
  return recorder.call("quantized_decomposed::" + verb + suffix, std::move(arguments));
}

// A parameter along the axis, as it broadcasts against x.
AbstractValue against(GraphRecorder& recorder, const AbstractValue& parameter,
                      const AbstractValue& x, const Affine& affine) {
  if (affine.axis.is_none()) return parameter;
  const auto rank = static_cast<std::int64_t>(recorder.tensor(x)->rank());
  std::vector<AbstractValue> sizes;
  for (std::int64_t i = 0; i < rank; ++i)
    sizes.push_back(AbstractValue::of_int(affine.axis.expr.is(i) ? -1 : 1));
  return recorder.call("aten::reshape", {parameter, AbstractValue::of_items(Kind::kList, sizes)});
}

// In float32, as the kernels compute it.
AbstractValue inverse(GraphRecorder& recorder, const Affine& affine) {
  if (is_known(affine))
    return AbstractValue::of_real(
        static_cast<double>(1.0F / static_cast<float>(affine.scale.real)));
  const AbstractValue scale = scalar_tensor(recorder, affine.scale, kFloat32);
  const AbstractValue narrow = recorder.call("aten::to", {scale, AbstractValue::of_int(kFloat32)});
  return recorder.call("aten::reciprocal", {narrow});
}

}  // namespace

std::int64_t quantized_type_number(DType integers) {
  return integers == DType::kInt8 ? 12 : integers == DType::kUInt8 ? 13 : 14;
}

std::int64_t integer_type_number(DType integers) {
  return integers == DType::kUInt8 ? 0 : integers == DType::kInt8 ? 1 : 3;
}

AbstractValue quantized_value(AbstractValue integers, AbstractValue scale, AbstractValue zero_point,
                              AbstractValue axis) {
  return AbstractValue::of_items(Kind::kQuantized, {std::move(integers), std::move(scale),
                                                    std::move(zero_point), std::move(axis)});
}

const AbstractValue& integers_of(const AbstractValue& quantized) {
  const AbstractValue& integers = quantized.held->items.at(0);
  const DType dtype = integers.value ? integers.value->dtype : DType::kUndefined;
  if (dtype != DType::kInt8 && dtype != DType::kUInt8 && dtype != DType::kInt32)
    base::fail("SX1211", "a quantized tensor is no tensor of integers of 8 or 32 bits");
  return integers;
}

Affine affine_of(const AbstractValue& quantized) {
  const std::vector<AbstractValue>& parts = quantized.held->items;
  return {parts.at(1), parts.at(2), parts.at(3), integers_of(quantized).value->dtype};
}

AbstractValue dequantized(GraphRecorder& recorder, const AbstractValue& quantized) {
  return decomposed(recorder, "dequantize", integers_of(quantized), affine_of(quantized));
}

std::vector<AbstractValue> parts_of_quantized(GraphRecorder& recorder,
                                              const AbstractValue& quantized) {
  const Affine affine = affine_of(quantized);
  if (!affine.axis.is_none()) {
    refuse("the program returns a tensor that is quantized by channels",
           "return its dequantize() or its int_repr()");
  }
  const std::int64_t integers = integer_type_number(affine.dtype);
  const auto converted = [&](const AbstractValue& number, std::int64_t dtype) {
    const AbstractValue tensor = scalar_tensor(recorder, number, dtype);
    return recorder.call("aten::to", {tensor, AbstractValue::of_int(dtype)});
  };
  return {integers_of(quantized), converted(affine.scale, kFloat32),
          converted(affine.zero_point, integers)};
}

AbstractValue as_float(GraphRecorder& recorder, const AbstractValue& datum) {
  return is_quantized(datum) ? dequantized(recorder, datum) : datum;
}

AbstractValue requantized(GraphRecorder& recorder, const AbstractValue& x, const Affine& affine) {
  return quantized_value(decomposed(recorder, "quantize", x, affine), affine.scale,
                         affine.zero_point, affine.axis);
}

AbstractValue rounded(GraphRecorder& recorder, const AbstractValue& x, const Affine& affine) {
  const AbstractValue factor = against(recorder, inverse(recorder, affine), x, affine);
  const AbstractValue zero = against(recorder, affine.zero_point, x, affine);
  AbstractValue steps = recorder.call("aten::mul", {x, factor});
  if (recorder.options().zero_point_after_rounding) steps = recorder.call("aten::round", {steps});
  steps = recorder.call("aten::add", {steps, zero});
  const Affine whole{AbstractValue::of_real(1), AbstractValue::of_int(0), {}, affine.dtype};
  return quantized_value(decomposed(recorder, "quantize", steps, whole), affine.scale,
                         affine.zero_point, affine.axis);
}

AbstractValue scalar_tensor(GraphRecorder& recorder, const AbstractValue& number,
                            std::int64_t dtype) {
  if (number.is_tensor()) return number;
  return recorder.call("aten::scalar_tensor", {number}, {{"dtype", AbstractValue::of_int(dtype)}});
}

}  // namespace sardonyx::torchscript
