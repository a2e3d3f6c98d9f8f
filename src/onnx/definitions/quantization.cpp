// Affine quantization decomposed: q = clamp(round(x / scale) + zero_point),
// x = (q - zero_point) * scale.
#include "onnx/definitions/parts.h"

namespace sardonyx::onnx {
namespace {

// The tensor and its parameters, which broadcast against it: an axis is one of them, blocks take an
// axis of their own on which the parameters have size 1.
struct Affine {
  Value x, scale, zero_point;
};

std::optional<Affine> affine_of(const Composite& call) {
  Emit& onnx = call.onnx;
  Affine affine{call.input(0), call.input(1), call.input(2)};
  if (!affine.x.has_rank() || !affine.scale.has_rank()) return std::nullopt;
  if (affine.scale.rank() == 0 || (affine.scale.rank() == 1 && affine.scale.dim(0).is(1)))
    return affine;
  const std::int64_t rank = affine.x.rank();
  std::int64_t axis = call.integer("axis", 1);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return std::nullopt;
  const std::int64_t block = call.integer("block_size", 0);
  const auto each = [&](auto change) {
    affine.scale = change(affine.scale);
    if (affine.zero_point) affine.zero_point = change(affine.zero_point);
  };
  if (block == 0) {
    std::vector<std::int64_t> behind;
    for (std::int64_t i = axis + 1; i < rank; ++i) behind.push_back(i - axis);
    each([&](Value parameter) { return onnx.unsqueeze(parameter, behind); });
    return affine;
  }
  Shape shape = affine.x.shape();
  const auto at = static_cast<std::size_t>(axis);
  if (!shape[at].known()) return std::nullopt;
  shape[at] = symbolic::floor_div(shape[at], block);
  shape.insert(shape.begin() + axis + 1, block);
  affine.x = onnx.reshape(affine.x, shape);
  each([&](Value parameter) { return onnx.unsqueeze(parameter, {axis + 1}); });
  return affine;
}

DType quantized_type(const Composite& call) {
  if (call.input(2)) return call.input(2).dtype();
  const auto asked = static_cast<DType>(call.integer("output_dtype", 0));
  return asked == DType::kUndefined ? DType::kUInt8 : asked;
}

// The type that an attribute names.
DType type_or(const Composite& call, std::string_view attribute, DType otherwise) {
  const auto asked = static_cast<DType>(call.integer(attribute, 0));
  return asked == DType::kUndefined ? otherwise : asked;
}

}  // namespace

std::optional<Values> quantize_linear(const Composite& call) {
  const DType dtype = quantized_type(call);
  const auto affine = base::is_integer(dtype) ? affine_of(call) : std::nullopt;
  // Opset 19 has scales that are integers, of whose quotients nothing says how they are rounded.
  if (!affine || !base::is_floating(affine->scale.dtype())) return std::nullopt;
  Emit& onnx = call.onnx;
  const DType real = type_or(call, "precision", affine->scale.dtype());
  Value q = onnx.round(onnx.div(onnx.cast(affine->x, real), onnx.cast(affine->scale, real)));
  if (affine->zero_point) q = onnx.add(q, onnx.cast(affine->zero_point, real));
  const auto bound = [&](std::int64_t value) {
    return onnx.scalar(static_cast<double>(value), real);
  };
  const Value most = bound(static_cast<std::int64_t>(base::integer_max(dtype)));
  q = onnx.clip(q, bound(base::integer_min(dtype)), most);
  return Values{onnx.reshape_like(onnx.cast(q, dtype), call.input(0))};
}

std::optional<Values> dequantize_linear(const Composite& call) {
  const auto affine = affine_of(call);
  if (!affine) return std::nullopt;
  Emit& onnx = call.onnx;
  const DType scale = affine->scale.dtype(), result = type_or(call, "output_dtype", scale);
  // In the wider one: what is asked for may have fewer digits or more.
  const DType real = base::bit_width(result) > base::bit_width(scale) ? result : scale;
  Value steps = onnx.cast(affine->x, real);
  if (affine->zero_point) steps = onnx.sub(steps, onnx.cast(affine->zero_point, real));
  const Value y = onnx.mul(steps, onnx.cast(affine->scale, real));
  return Values{onnx.reshape_like(onnx.cast(y, result), call.input(0))};
}

}  // namespace sardonyx::onnx
