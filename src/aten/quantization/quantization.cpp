#include "aten/quantization/quantization.h"

namespace sardonyx::aten {
namespace {

// Whether QuantizeLinear and DequantizeLinear know the type and the scales.
bool has_linear(const Affine& affine) {
  if (affine.scale.rank() > 0 && !affine.axis) return false;
  switch (affine.dtype) {
    case DType::kInt8:
    case DType::kUInt8:
    case DType::kInt16:
    case DType::kUInt16:
      return true;
    default:
      return false;
  }
}

Value linear_scale(Emit& onnx, const Affine& affine) {
  return onnx.cast(affine.scale, DType::kFloat32);
}

Value linear_zero_point(Emit& onnx, const Affine& affine) {
  if (affine.zero_point) return onnx.cast(affine.zero_point, affine.dtype);
  return onnx.expand(onnx.zero(affine.dtype), affine.scale.shape());
}

// Parameters as they broadcast against x.
Value against(Emit& onnx, Value parameter, Value x, const Affine& affine) {
  if (!affine.axis || affine.block > 0) return parameter;
  return along_axis(onnx, parameter, *affine.axis, x.rank());
}

// Blocks take an axis of their own, on which the parameters have size 1.
struct Split {
  Value x;
  Affine affine;
};

Split split_blocks(Emit& onnx, Value x, const Affine& affine) {
  if (affine.block == 0) return {x, affine};
  const std::int64_t axis = *affine.axis;
  Shape shape = x.shape();
  const auto at = static_cast<std::size_t>(axis);
  shape[at] = symbolic::floor_div(shape[at], affine.block);
  shape.insert(shape.begin() + axis + 1, affine.block);
  Affine split = affine;
  split.scale = onnx.unsqueeze(affine.scale, {axis + 1});
  if (affine.zero_point) split.zero_point = onnx.unsqueeze(affine.zero_point, {axis + 1});
  split.axis.reset();
  split.block = 0;
  return {onnx.reshape(x, shape), split};
}

}  // namespace

double least_of(DType dtype) {
  if (base::is_integer(dtype)) return static_cast<double>(base::integer_min(dtype));
  return -most_of(dtype);
}

double most_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat8E4M3FN:
      return 448;
    case DType::kFloat8E4M3FNUZ:
      return 240;
    case DType::kFloat8E5M2:
    case DType::kFloat8E5M2FNUZ:
      return 57344;
    default:
      return static_cast<double>(base::integer_max(dtype));
  }
}

Value one_number(const Call& call, Emit& onnx, std::string_view name) {
  if (!call.argument(name).get<program::Value*>()) {
    return onnx.scalar(call.number(name), DType::kFloat64);
  }
  const Value tensor = onnx.cast(call.tensor(name), DType::kFloat64);
  return onnx.reshape(tensor, Shape{});
}

Value along_axis(Emit& onnx, Value parameter, std::int64_t axis, std::int64_t rank) {
  std::vector<std::int64_t> behind;
  for (std::int64_t i = axis + 1; i < rank; ++i) behind.push_back(i - axis);
  return onnx.unsqueeze(parameter, behind);
}

// PyTorch multiplies by the reciprocal, of a single number in double.
Value scaled_and_rounded(Emit& onnx, Value x, const Affine& affine) {
  const Value inverse = onnx.reciprocal(against(onnx, affine.scale, x, affine));
  if (inverse.rank() == 0) return onnx.round(onnx.mul(x, onnx.cast(inverse, x.dtype())));
  const auto [left, right] = promoted(onnx, x, inverse);
  return onnx.round(onnx.mul(left, right));
}

Value quantized(Emit& onnx, Value x, const Affine& affine) {
  if (has_linear(affine) && x.dtype() == DType::kFloat32) {
    const Value q = onnx.quantize_linear(
        x, linear_scale(onnx, affine), linear_zero_point(onnx, affine),
        {.axis = affine.axis,
         .block_size = affine.block > 0 ? std::optional(affine.block) : std::nullopt});
    const bool whole =
        affine.least <= least_of(affine.dtype) && affine.most >= most_of(affine.dtype);
    if (whole) return q;
    return onnx.clip(q, onnx.scalar(affine.least, affine.dtype),
                     onnx.scalar(affine.most, affine.dtype));
  }
  return quantized_by_reciprocal(onnx, x, affine);
}

Value quantized_by_reciprocal(Emit& onnx, Value x, const Affine& affine) {
  const Shape shape = x.shape();
  const auto [split, parameters] = split_blocks(onnx, x, affine);
  Value q = scaled_and_rounded(onnx, split, parameters);
  if (parameters.zero_point) {
    const Value zero = against(onnx, parameters.zero_point, split, parameters);
    q = onnx.add(q, onnx.cast(zero, q.dtype()));
  }
  q = onnx.clip(q, onnx.scalar(affine.least, q.dtype()), onnx.scalar(affine.most, q.dtype()));
  return onnx.reshape(onnx.cast(q, affine.dtype), shape);
}

Value dequantized(Emit& onnx, Value q, const Affine& affine, DType dtype) {
  if (has_linear(affine)) {
    const Value x = onnx.dequantize_linear(
        q, linear_scale(onnx, affine), linear_zero_point(onnx, affine),
        {.axis = affine.axis,
         .block_size = affine.block > 0 ? std::optional(affine.block) : std::nullopt});
    return onnx.cast(x, dtype);
  }
  const Shape shape = q.shape();
  const auto [split, parameters] = split_blocks(onnx, q, affine);
  const DType computed = affine.scale.rank() > 0 && affine.scale.dtype() == DType::kFloat64
                             ? DType::kFloat64
                             : DType::kFloat32;
  Value x = onnx.cast(split, computed);
  if (parameters.zero_point) {
    const Value zero = against(onnx, parameters.zero_point, split, parameters);
    x = onnx.sub(x, onnx.cast(zero, computed));
  }
  const Value scale = against(onnx, parameters.scale, split, parameters);
  x = onnx.mul(x, onnx.cast(scale, computed));
  return onnx.cast(onnx.reshape(x, shape), dtype);
}

}  // namespace sardonyx::aten
