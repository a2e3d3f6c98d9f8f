// Results of quantizing and dequantizing, and of what chooses scales.
#include "program/inference/bound_call.h"

namespace sardonyx::program {
namespace {

TensorTypes quantized(const Bound& call) {
  return {{call.dtype().value_or(DType::kUndefined), call.self().shape, {}}};
}

TensorTypes dequantized(const Bound& call) {
  return {{call.dtype("out_dtype").value_or(DType::kFloat32), call.self().shape, {}}};
}

TensorTypes chosen(const Bound&) {
  return {{DType::kFloat64, {Expr(1)}, {}}, {DType::kInt64, {Expr(1)}, {}}};
}

TensorTypes to_output_type(const Bound& call) {
  return {{call.dtype("output_dtype").value_or(DType::kFloat32), call.self().shape, {}}};
}

TensorTypes to_float8(const Bound& call) {
  return {{call.dtype("float8_dtype").value_or(DType::kUndefined), call.self().shape, {}}};
}

// A scale for each block, in as many dimensions.
TensorTypes scales_for_float8(const Bound& call) {
  const Sizes sizes = call.sizes("block_size");
  Sizes shape;
  for (std::size_t i = 0; i < call.self().rank(); ++i) {
    const Expr whole = call.self().shape[i], exact = symbolic::exact_quotient(whole, sizes.at(i));
    shape.push_back(exact.known() ? exact : symbolic::floor_div(whole, sizes.at(i)));
  }
  return {{call.dtype("scale_dtype").value_or(DType::kFloat32), shape, {}}};
}

// A scale and a zero point for each block; axes of one block may go.
TensorTypes parameters_of_blocks(const Bound& call) {
  const Sizes sizes = call.sizes("block_size");
  const DType own = call.self().dtype;
  Sizes shape;
  for (std::size_t i = 0; i < call.self().rank(); ++i) {
    const Expr whole = call.self().shape[i], block = sizes.at(i);
    const bool is_one_block = !block.is(1) && (block.is(-1) || block == whole);
    if (!is_one_block)
      shape.push_back(block.is(1) ? whole : symbolic::floor_div(whole, block));
    else if (call.flag("keepdim"))
      shape.emplace_back(1);
  }
  return {{call.dtype("scale_dtype").value_or(own), shape, {}},
          {call.dtype("zero_point_dtype").value_or(own), shape, {}}};
}

TensorTypes faked(const Bound& call) { return {like(call.self(), call.self().shape)}; }

TensorTypes faked_with_mask(const Bound& call) {
  return {like(call.self(), call.self().shape), {DType::kBool, call.self().shape, {}}};
}

constexpr ResultRow kRows[] = {
    {"quantize_per_tensor quantize_per_channel quantize_per_channel_group", quantized},
    {"dequantize_per_tensor dequantize_per_channel", dequantized},
    {"dequantize_per_channel_group quantize_affine dequantize_affine "
     "dequantize_affine_float8_non_decomposed",
     to_output_type},
    {"quantize_affine_float8_non_decomposed", to_float8},
    {"choose_scale_float8", scales_for_float8},
    {"fake_quantize_per_tensor_affine fake_quantize_per_channel_affine "
     "_fake_quantize_learnable_per_tensor_affine _fake_quantize_learnable_per_channel_affine",
     faked},
    {"fake_quantize_per_tensor_affine_cachemask fake_quantize_per_channel_affine_cachemask "
     "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams",
     faked_with_mask},
    {"choose_qparams", chosen},
    {"choose_qparams_affine", parameters_of_blocks},
};

}  // namespace

std::span<const ResultRow> quantization_results() { return kRows; }

}  // namespace sardonyx::program
