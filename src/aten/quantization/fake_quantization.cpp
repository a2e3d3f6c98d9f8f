// Numbers rounded to those that a quantized type can hold: quantized and back.
#include "aten/families.h"
#include "aten/quantization/quantization.h"

namespace sardonyx::aten {
namespace {

// The smallest type of QuantizeLinear that holds the range; int32 is decomposed.
DType container(double least, double most) {
  for (const DType dtype : {DType::kInt8, DType::kUInt8, DType::kInt16, DType::kUInt16}) {
    if (least >= least_of(dtype) && most <= most_of(dtype)) return dtype;
  }
  return DType::kInt32;
}

Affine bounded(const Call& call) {
  Affine affine;
  affine.least = call.number("quant_min");
  affine.most = call.number("quant_max");
  affine.dtype = container(affine.least, affine.most);
  return affine;
}

Affine per_tensor(const Call& call, Emit& onnx) {
  Affine affine = bounded(call);
  affine.scale = one_number(call, onnx, "scale");
  affine.zero_point = onnx.cast(one_number(call, onnx, "zero_point"), DType::kInt64);
  return affine;
}

Affine per_channel(const Call& call, Emit& onnx) {
  Affine affine = bounded(call);
  const std::int64_t rank = call.tensor("self").rank();
  affine.scale = call.tensor("scale");
  affine.zero_point = call.tensor("zero_point");
  affine.axis = call.axis("axis", rank);
  // Zero points between the integers stay what they are.
  if (base::is_floating(affine.zero_point.dtype())) {
    affine.scale = along_axis(onnx, affine.scale, *affine.axis, rank);
    affine.zero_point = along_axis(onnx, affine.zero_point, *affine.axis, rank);
    affine.axis.reset();
  }
  return affine;
}

// The learnable forms keep zero points as floating numbers: rounded and held in range.
Value whole_zero_point(Emit& onnx, Value zero_point, const Affine& affine) {
  const DType dtype = zero_point.dtype();
  const Value shifted = onnx.add(zero_point, onnx.scalar(0.5, dtype));
  const Value held =
      onnx.clip(shifted, onnx.scalar(affine.least, dtype), onnx.scalar(affine.most, dtype));
  return onnx.cast(held, DType::kInt64);
}

// round(x / scale) + zero_point before it is held in range. A zero point between the integers is
// added before rounding.
Value levels(Emit& onnx, Value x, const Affine& affine, Value zero) {
  if (base::is_integer(affine.zero_point.dtype())) {
    return onnx.add(scaled_and_rounded(onnx, x, affine), zero);
  }
  const Value inverse = onnx.cast(onnx.reciprocal(affine.scale), x.dtype());
  return onnx.round(onnx.add(onnx.mul(x, inverse), zero));
}

// A parameter in x's type, against which it broadcasts.
Value against(Emit& onnx, Value parameter, Value x, const Affine& affine) {
  if (affine.axis) parameter = along_axis(onnx, parameter, *affine.axis, x.rank());
  return onnx.cast(parameter, x.dtype());
}

Value rounded(const Call& call, Emit& onnx, const Affine& affine) {
  const Value self = call.tensor("self");
  const Value x = self.dtype() == DType::kFloat64 ? self : onnx.cast(self, DType::kFloat32);
  if (x.dtype() == DType::kFloat32 && base::is_integer(affine.zero_point.dtype())) {
    return dequantized(onnx, quantized(onnx, x, affine), affine, self.dtype());
  }
  const Value zero = against(onnx, affine.zero_point, x, affine);
  const Value held = onnx.clip(levels(onnx, x, affine, zero), onnx.scalar(affine.least, x.dtype()),
                               onnx.scalar(affine.most, x.dtype()));
  const Value scale = against(onnx, affine.scale, x, affine);
  return onnx.cast(onnx.mul(onnx.sub(held, zero), scale), self.dtype());
}

// Which elements lie in the range.
Value in_range(const Call& call, Emit& onnx, const Affine& affine) {
  const Value x = onnx.cast(call.tensor("self"), DType::kFloat32);
  const Value q = levels(onnx, x, affine, against(onnx, affine.zero_point, x, affine));
  return onnx.and_(onnx.greater_or_equal(q, onnx.scalar(affine.least, DType::kFloat32)),
                   onnx.less_or_equal(q, onnx.scalar(affine.most, DType::kFloat32)));
}

Outputs with_mask(const Call& call, Emit& onnx, const Affine& affine) {
  return {rounded(call, onnx, affine),
          call.uses_output(1) ? in_range(call, onnx, affine) : Value{}};
}

Outputs fake_quantize_per_tensor(const Call& call, Emit& onnx) {
  return {rounded(call, onnx, per_tensor(call, onnx))};
}

Outputs fake_quantize_per_tensor_cachemask(const Call& call, Emit& onnx) {
  return with_mask(call, onnx, per_tensor(call, onnx));
}

// Passes the input on where fake_quant_enabled is 0.
Outputs fake_quantize_enabled(const Call& call, Emit& onnx) {
  const Outputs both = with_mask(call, onnx, per_tensor(call, onnx));
  const Value flag = onnx.reshape(call.tensor("fake_quant_enabled"), Shape{});
  const Value enabled = onnx.cast(flag, DType::kBool);
  const Value mask = both[1] ? onnx.or_(both[1], onnx.not_(enabled)) : Value{};
  return {onnx.where(enabled, both[0], call.tensor("self")), mask};
}

Outputs fake_quantize_per_channel(const Call& call, Emit& onnx) {
  return {rounded(call, onnx, per_channel(call, onnx))};
}

Outputs fake_quantize_per_channel_cachemask(const Call& call, Emit& onnx) {
  return with_mask(call, onnx, per_channel(call, onnx));
}

Outputs fake_quantize_learnable_per_tensor(const Call& call, Emit& onnx) {
  Affine affine = bounded(call);
  affine.scale = one_number(call, onnx, "scale");
  affine.zero_point = whole_zero_point(onnx, one_number(call, onnx, "zero_point"), affine);
  return {rounded(call, onnx, affine)};
}

Outputs fake_quantize_learnable_per_channel(const Call& call, Emit& onnx) {
  Affine affine = bounded(call);
  affine.scale = call.tensor("scale");
  affine.axis = call.axis("axis", call.tensor("self").rank());
  affine.zero_point = whole_zero_point(onnx, call.tensor("zero_point"), affine);
  return {rounded(call, onnx, affine)};
}

constexpr Row kRows[] = {
    {"aten::_fake_quantize_learnable_per_channel_affine(Tensor self, Tensor scale, Tensor "
     "zero_point, int axis, int quant_min, int quant_max, float grad_factor=1.) -> Tensor",
     fake_quantize_learnable_per_channel},
    {"aten::_fake_quantize_learnable_per_tensor_affine(Tensor self, Tensor scale, Tensor "
     "zero_point, int quant_min, int quant_max, float grad_factor=1.) -> Tensor",
     fake_quantize_learnable_per_tensor},
    {"aten::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams(Tensor self, Tensor scale, "
     "Tensor zero_point, Tensor fake_quant_enabled, int quant_min, int quant_max) -> (Tensor "
     "output, Tensor mask)",
     fake_quantize_enabled},
    {"aten::fake_quantize_per_channel_affine(Tensor self, Tensor scale, Tensor zero_point, int "
     "axis, int quant_min, int quant_max) -> Tensor",
     fake_quantize_per_channel},
    {"aten::fake_quantize_per_channel_affine_cachemask(Tensor self, Tensor scale, Tensor "
     "zero_point, int axis, int quant_min, int quant_max) -> (Tensor output, Tensor mask)",
     fake_quantize_per_channel_cachemask},
    {"aten::fake_quantize_per_tensor_affine(Tensor self, float scale, int zero_point, int "
     "quant_min, int quant_max) -> Tensor",
     fake_quantize_per_tensor},
    {"aten::fake_quantize_per_tensor_affine.tensor_qparams(Tensor self, Tensor scale, Tensor "
     "zero_point, int quant_min, int quant_max) -> Tensor",
     fake_quantize_per_tensor},
    {"aten::fake_quantize_per_tensor_affine_cachemask(Tensor self, float scale, int zero_point, "
     "int quant_min, int quant_max) -> (Tensor output, Tensor mask)",
     fake_quantize_per_tensor_cachemask},
};

}  // namespace

std::span<const Row> fake_quantization_rows() { return kRows; }

}  // namespace sardonyx::aten
