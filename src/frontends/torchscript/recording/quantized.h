// Quantized tensors while their program is followed: integers of 8 or 32 bits beside their scale
// and zero point, x = (q - zero_point) * scale. Layers compute between dequantizing and quantizing,
// which runtimes make one operator on integers.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "frontends/torchscript/recording/builtins.h"

namespace sardonyx::torchscript {

// How integers are read. Scale and zero point are numbers, tensors of one element, or, with an
// axis, of one for each index along it.
struct Affine {
  AbstractValue scale, zero_point, axis;
  base::DType dtype = base::DType::kUndefined;  // of the integers
};

// c10::ScalarType's numbers of the types that PyTorch quantizes to, and of these types' integers.
std::int64_t quantized_type_number(base::DType integers);
std::int64_t integer_type_number(base::DType integers);

inline bool is_quantized(const AbstractValue& datum) {
  return datum.kind == AbstractValue::Kind::kQuantized;
}

AbstractValue quantized_value(AbstractValue integers, AbstractValue scale, AbstractValue zero_point,
                              AbstractValue axis = {});
const AbstractValue& integers_of(const AbstractValue& quantized);
Affine affine_of(const AbstractValue& quantized);

// Its integers, scale (float32) and zero point (of the integers' type), as tensors: what a model
// has for it. SX1211 where it has a scale for each index along an axis.
std::vector<AbstractValue> parts_of_quantized(GraphRecorder& recorder,
                                              const AbstractValue& quantized);

// What it stands for, in float32.
AbstractValue dequantized(GraphRecorder& recorder, const AbstractValue& quantized);
// Dequantized where it is quantized.
AbstractValue as_float(GraphRecorder& recorder, const AbstractValue& datum);
// x, float32, as kernels that compute in integers leave it: the zero point is added after rounding.
AbstractValue requantized(GraphRecorder& recorder, const AbstractValue& x, const Affine& affine);
// x, float32, as quantize_per_tensor and its relatives give it: the zero point is added before
// rounding or after it, as ReadOptions say, which decides ties.
AbstractValue rounded(GraphRecorder& recorder, const AbstractValue& x, const Affine& affine);

// A 0-d tensor of a number, of this c10::ScalarType; a tensor stays what it is.
AbstractValue scalar_tensor(GraphRecorder& recorder, const AbstractValue& number,
                            std::int64_t dtype);

// What an object of packed weights holds: the weight, quantized or not; its bias or None; and of a
// convolution its lists of strides, padding, dilations and output padding, its groups, and whether
// it is transposed.
struct Packed {
  AbstractValue weight, bias;
  std::vector<AbstractValue> geometry;
};

// Throws SX1211 for anything else.
Packed unpacked(GraphRecorder& recorder, const AbstractValue* datum);

// What an operator does where quantized tensors are among its first arguments; nothing where none
// is, or where it has no meaning of its own for them.
std::optional<AbstractValue> quantized_builtin(GraphRecorder& recorder, const Operands& operands);

}  // namespace sardonyx::torchscript
