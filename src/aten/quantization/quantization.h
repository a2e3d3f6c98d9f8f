// Affine quantization: q = clamp(round(x / scale) + zero_point), x = (q - zero_point) * scale.
#pragma once

#include <cstdint>
#include <optional>

#include "aten/call.h"

namespace sardonyx::aten {

struct Affine {
  Value scale;                      // 0-d; [n] along `axis`; or shaped to broadcast against x
  Value zero_point;                 // as scale; absent for 0
  DType dtype = DType::kUndefined;  // of the quantized tensor
  double least = 0, most = 0;
  std::optional<std::int64_t> axis;
  // Elements along `axis` that share a scale: the scale has x's rank then.
  std::int64_t block = 0;
};

// 0-d float64 of a number, or of a tensor of one element whatever its shape.
Value one_number(const Call& call, Emit& onnx, std::string_view name);

// Least and most that the dtype holds.
double least_of(DType dtype);
double most_of(DType dtype);

// x quantized; QuantizeLinear where the target has it for the dtype and the scales' shape.
Value quantized(Emit& onnx, Value x, const Affine& affine);
// The same to the last bit of PyTorch's x * (1 / scale), for which QuantizeLinear divides.
Value quantized_by_reciprocal(Emit& onnx, Value x, const Affine& affine);
// q as `dtype`; DequantizeLinear likewise.
Value dequantized(Emit& onnx, Value q, const Affine& affine, DType dtype);

// Without rounding to the quantized dtype: round(x / scale), to which the zero point is still to be
// added; in the type that PyTorch computes in.
Value scaled_and_rounded(Emit& onnx, Value x, const Affine& affine);

// A parameter along `axis` made to broadcast against a tensor of this rank.
Value along_axis(Emit& onnx, Value parameter, std::int64_t axis, std::int64_t rank);

}  // namespace sardonyx::aten
