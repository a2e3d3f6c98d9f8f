// quantized_decomposed: the quantization that PyTorch's graph modes write down.
#include "aten/families.h"
#include "aten/quantization/quantization.h"

namespace sardonyx::aten {
namespace {

// float16 and bfloat16 are quantized as float32.
Value input_of(const Call& call, Emit& onnx) {
  return onnx.cast(call.tensor("input"), DType::kFloat32);
}

// quant_min and quant_max may be tensors in the .tensor2 overloads.
double bound(const Call& call, std::string_view name) {
  if (!call.argument(name).get<program::Value*>()) return call.number(name);
  const std::optional<double> known = call.tensor(name).real();
  if (!known)
    call.refuse("quantization bounds that are computed",
                "give quant_min and quant_max "
                "as numbers or constants");
  return *known;
}

Affine bounded(const Call& call, DType dtype) {
  Affine affine;
  affine.dtype = dtype;
  affine.least = bound(call, "quant_min");
  affine.most = bound(call, "quant_max");
  return affine;
}

Affine per_tensor(const Call& call, Emit& onnx, DType dtype) {
  Affine affine = bounded(call, dtype);
  affine.scale = one_number(call, onnx, "scale");
  affine.zero_point = onnx.cast(one_number(call, onnx, "zero_point"), DType::kInt64);
  return affine;
}

Affine per_channel(const Call& call, Emit& onnx, DType dtype) {
  Affine affine = bounded(call, dtype);
  affine.scale = call.tensor("scales");
  affine.zero_point = call.optional_tensor("zero_points");
  affine.axis = call.axis("axis", call.tensor("input").rank());
  // Zero points between the integers stay what they are.
  if (affine.zero_point && base::is_floating(affine.zero_point.dtype())) {
    affine.scale = along_axis(onnx, affine.scale, *affine.axis, call.tensor("input").rank());
    affine.zero_point =
        along_axis(onnx, affine.zero_point, *affine.axis, call.tensor("input").rank());
    affine.axis.reset();
  }
  return affine;
}

Outputs quantize_per_tensor(const Call& call, Emit& onnx) {
  const Affine affine = per_tensor(call, onnx, call.result_dtype());
  return {quantized(onnx, input_of(call, onnx), affine)};
}

Outputs dequantize_per_tensor(const Call& call, Emit& onnx) {
  const Value q = call.tensor("input");
  return {dequantized(onnx, q, per_tensor(call, onnx, q.dtype()), call.result_dtype())};
}

Outputs quantize_per_channel(const Call& call, Emit& onnx) {
  const Affine affine = per_channel(call, onnx, call.result_dtype());
  return {quantized(onnx, input_of(call, onnx), affine)};
}

Outputs dequantize_per_channel(const Call& call, Emit& onnx) {
  const Value q = call.tensor("input");
  return {dequantized(onnx, q, per_channel(call, onnx, q.dtype()), call.result_dtype())};
}

Outputs fake_quant_per_channel(const Call& call, Emit& onnx) {
  const Affine affine = per_channel(call, onnx, DType::kInt32);
  return {dequantized(onnx, quantized(onnx, call.tensor("input"), affine), affine,
                      call.result_dtype())};
}

// The zero point is added before rounding, other than elsewhere.
Value quantized_rows(const Call& call, Emit& onnx, Value x, Value scales, Value zero_points) {
  const auto [left, right] = promoted(onnx, x, onnx.reciprocal(scales));
  const auto [product, zeros] = promoted(onnx, onnx.mul(left, right), zero_points);
  const Value whole = onnx.round(onnx.add(product, zeros));
  const Value q = onnx.clip(whole, onnx.scalar(bound(call, "quant_min"), whole.dtype()),
                            onnx.scalar(bound(call, "quant_max"), whole.dtype()));
  return onnx.cast(q, call.result_dtype());
}

Outputs quantize_per_token(const Call& call, Emit& onnx) {
  return {quantized_rows(call, onnx, call.tensor("input"), call.tensor("scales"),
                         call.tensor("zero_points"))};
}

Outputs dequantize_per_token(const Call& call, Emit& onnx) {
  const Value scales = call.tensor("scales");
  const DType dtype = scales.dtype();
  const Value q = onnx.cast(call.tensor("input"), dtype);
  const Value zeros = onnx.cast(call.tensor("zero_points"), dtype);
  return {cast_to_result(onnx, call, onnx.mul(onnx.sub(q, zeros), scales))};
}

// Groups of elements within each row share a scale.
std::int64_t group_size(const Call& call) {
  const std::int64_t wanted = call.integer("group_size");
  const Expr row = call.tensor("input").dim(-1);
  const bool one_group = call.tensor("scales").dim(-1).is(1);
  return one_group && row.is_constant() && wanted > row.value() ? row.value() : wanted;
}

Outputs quantize_per_channel_group(const Call& call, Emit& onnx) {
  const Value x = call.tensor("input");
  const std::int64_t size = group_size(call);
  const Expr groups = symbolic::floor_div(x.dim(0) * x.dim(1), size);
  const auto column = [&](std::string_view name) {
    return onnx.reshape(call.tensor(name), {groups, 1});
  };
  const Value rows = onnx.reshape(x, {groups, size});
  const Value q = quantized_rows(call, onnx, rows, column("scales"), column("zero_points"));
  return {onnx.reshape(q, call.result_shape())};
}

Outputs dequantize_per_channel_group(const Call& call, Emit& onnx) {
  const Value q = call.tensor("input");
  const std::int64_t size = group_size(call);
  const Expr groups = symbolic::floor_div(q.dim(1), size);
  const auto table = [&](Value parameter) {
    return parameter ? onnx.reshape(parameter, {q.dim(0), groups}) : parameter;
  };
  Affine affine = bounded(call, q.dtype());
  affine.scale = table(call.tensor("scales"));
  affine.zero_point = table(call.optional_tensor("zero_points"));
  affine.axis = 1;
  affine.block = size;
  return {dequantized(onnx, q, affine, call.result_dtype())};
}

Outputs convert_element_type(const Call& call, Emit& onnx) {
  return {cast_to_result(onnx, call, call.tensor("input"))};
}

constexpr Row kRows[] = {
    {"quantized_decomposed::convert_element_type.no_fuse(Tensor input, ScalarType dtype) -> Tensor",
     convert_element_type},
    {"quantized_decomposed::dequantize_per_channel(Tensor input, Tensor scales, Tensor? "
     "zero_points, int axis, int quant_min, int quant_max, ScalarType dtype, *, ScalarType? "
     "out_dtype=None) -> Tensor",
     dequantize_per_channel},
    {"quantized_decomposed::dequantize_per_channel_group(Tensor input, Tensor scales, Tensor? "
     "zero_points, int quant_min, int quant_max, ScalarType dtype, int group_size, ScalarType "
     "output_dtype) -> Tensor",
     dequantize_per_channel_group},
    {"quantized_decomposed::dequantize_per_tensor(Tensor input, float scale, int zero_point, int "
     "quant_min, int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor",
     dequantize_per_tensor},
    {"quantized_decomposed::dequantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor "
     "zero_point, int quant_min, int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) "
     "-> Tensor",
     dequantize_per_tensor},
    {"quantized_decomposed::dequantize_per_tensor.tensor2(Tensor input, Tensor scale, Tensor "
     "zero_point, Tensor quant_min, Tensor quant_max, ScalarType dtype, *, ScalarType? "
     "out_dtype=None) -> Tensor",
     dequantize_per_tensor},
    {"quantized_decomposed::dequantize_per_token(Tensor input, Tensor scales, Tensor zero_points, "
     "int quant_min, int quant_max, ScalarType dtype, ScalarType output_dtype) -> Tensor",
     dequantize_per_token},
    {"quantized_decomposed::fake_quant_per_channel(Tensor input, Tensor scales, Tensor "
     "zero_points, int axis, int quant_min, int quant_max) -> Tensor",
     fake_quant_per_channel},
    {"quantized_decomposed::quantize_per_channel(Tensor input, Tensor scales, Tensor zero_points, "
     "int axis, int quant_min, int quant_max, ScalarType dtype) -> Tensor",
     quantize_per_channel},
    {"quantized_decomposed::quantize_per_channel_group(Tensor input, Tensor scales, Tensor "
     "zero_points, int quant_min, int quant_max, ScalarType dtype, int group_size) -> Tensor",
     quantize_per_channel_group},
    {"quantized_decomposed::quantize_per_tensor(Tensor input, float scale, int zero_point, int "
     "quant_min, int quant_max, ScalarType dtype) -> Tensor",
     quantize_per_tensor},
    {"quantized_decomposed::quantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor "
     "zero_point, int quant_min, int quant_max, ScalarType dtype) -> Tensor",
     quantize_per_tensor},
    {"quantized_decomposed::quantize_per_tensor.tensor2(Tensor input, Tensor scale, Tensor "
     "zero_point, Tensor quant_min, Tensor quant_max, ScalarType dtype) -> Tensor",
     quantize_per_tensor},
    {"quantized_decomposed::quantize_per_token(Tensor input, Tensor scales, Tensor zero_points, "
     "int quant_min, int quant_max, ScalarType dtype) -> Tensor",
     quantize_per_token},
};

}  // namespace

std::span<const Row> decomposed_quantization_rows() { return kRows; }

}  // namespace sardonyx::aten
