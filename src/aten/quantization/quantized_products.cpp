// Matrix products of quantized tensors.
#include "aten/elementwise/operands.h"
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

// int8 times int8, summed in int32.
Outputs int_mm(const Call& call, Emit& onnx) {
  return {onnx.matmul_integer(call.tensor("self"), call.tensor("mat2"))};
}

// float8 times float8 under scales of the whole tensors, or of the rows and columns.
Outputs scaled_mm(const Call& call, Emit& onnx) {
  const auto wide = [&](std::string_view name) {
    return onnx.cast(call.tensor(name), DType::kFloat32);
  };
  const auto factor = [&](std::string_view name) {
    const Value scale = wide(name);
    return scale.element_count().is(1) ? onnx.reshape(scale, Shape{}) : scale;
  };
  const Value a = factor("scale_a"), b = factor("scale_b");
  for (const Value scale : {a, b}) {
    const bool rows_or_columns = scale.rank() == 2 && (scale.dim(0).is(1) || scale.dim(1).is(1));
    if (scale.rank() != 0 && !rows_or_columns) {
      call.refuse("_scaled_mm with scales of blocks", "scale tensors, rows or columns");
    }
  }
  const Value product = onnx.matmul(wide("self"), wide("mat2"));
  Value y = onnx.mul(onnx.mul(product, a), b);
  if (call.has("bias")) y = onnx.add(y, wide("bias"));
  if (call.has("scale_result") && base::bit_width(call.result_dtype()) == 8) {
    y = onnx.mul(y, onnx.reshape(wide("scale_result"), Shape{}));
  }
  return {cast_to_result(onnx, call, y)};
}

// x [M, K] times int8 weights [N, K] with a scale for each output. Not as DequantizeLinear: ONNX
// Runtime would make it a product with x in 8 bits, which PyTorch's is not.
Outputs weight_int8pack_mm(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const DType dtype = computing_type(self.dtype());
  const Value weights = onnx.cast(onnx.swap_axes(call.tensor("mat2"), 0, 1), dtype);
  const Value product = onnx.matmul(onnx.cast(self, dtype), weights);
  return {cast_to_result(onnx, call, onnx.mul(product, onnx.cast(call.tensor("scales"), dtype)))};
}

Outputs packed_int4(const Call& call, Emit&) {
  call.refuse(
      "int4 weights packed for one processor's kernels: their layout depends on the machine that "
      "packed them",
      "export the model before packing, with weights under dequantize_affine or "
      "dequantize_per_channel_group");
}

constexpr Row kRows[] = {
    {"aten::_convert_weight_to_int4pack(Tensor self, int innerKTiles) -> Tensor", packed_int4},
    {"aten::_convert_weight_to_int4pack_for_cpu(Tensor self, int innerKTiles) -> Tensor",
     packed_int4},
    {"aten::_int_mm(Tensor self, Tensor mat2) -> Tensor", int_mm},
    {"aten::_scaled_mm(Tensor self, Tensor mat2, Tensor scale_a, Tensor scale_b, Tensor? "
     "bias=None, Tensor? scale_result=None, ScalarType? out_dtype=None, bool "
     "use_fast_accum=False) -> Tensor",
     scaled_mm},
    {"aten::_weight_int4pack_mm(Tensor self, Tensor mat2, int qGroupSize, Tensor qScaleAndZeros) "
     "-> Tensor",
     packed_int4},
    {"aten::_weight_int4pack_mm_for_cpu(Tensor self, Tensor mat2, int qGroupSize, Tensor "
     "qScaleAndZeros) -> Tensor",
     packed_int4},
    {"aten::_weight_int4pack_mm_with_scales_and_zeros(Tensor self, Tensor mat2, int qGroupSize, "
     "Tensor qScale, Tensor qZeros) -> Tensor",
     packed_int4},
    {"aten::_weight_int8pack_mm(Tensor self, Tensor mat2, Tensor scales) -> Tensor",
     weight_int8pack_mm},
};

}  // namespace

std::span<const Row> quantized_products_rows() { return kRows; }

}  // namespace sardonyx::aten
