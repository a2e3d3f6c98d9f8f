// How a target computes on quantized tensors, as data: which operators take them, and the form of
// their scales and zero points.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/dtype.h"
#include "onnx/gen/op.h"

namespace sardonyx::targets {

// What an operator does with quantized tensors.
enum class QuantizedRole : std::uint8_t {
  // A product with a constant weight, which has a scale for each output channel.
  kWeighted,
  // The same, of which the target has integer kernels only where the result is quantized, too.
  kWeightedToInteger,
  // A product of two activations.
  kProduct,
  // Its result has a scale of its own.
  kComputes,
  // Its result has elements of its first input, and the scale of that.
  kSameScale,
  // All inputs and the result have one scale.
  kSharedScale,
  // Becomes part of the operator that it follows.
  kActivation,
};

struct QuantizedOperator {
  onnx::Op op;
  QuantizedRole role;
};

struct QuantizationScheme {
  std::string_view name;  // "w8a8"
  base::DType weights, activations;
  std::int64_t opset;  // the oldest one that has it
};

struct QuantizationTarget {
  std::string_view name;                        // as users write it
  std::string_view title;                       // as messages say it
  std::span<const QuantizationScheme> schemes;  // the first is the default
  std::span<const QuantizedOperator> operators;
  bool symmetric = false;     // zero points of activations are 0, or the middle of unsigned types
  bool per_channel = true;    // weights may have a scale for each channel
  bool power_of_two = false;  // scales are powers of two
  bool integer_bias = true;   // biases are int32, by the scales of input and weight
  // Activations of more bits that its integer kernels take next to those of a scheme of 8 bits.
  base::DType more_bits = base::DType::kUndefined;
  int weight_bits = 8;  // 7: products of eight bits saturate
  // Its kernels are those of ONNX Runtime's CPU provider, in which models are measured: what this
  // one fuses is no property of other targets, and has limits of its own (it drops a Clip before a
  // QuantizeLinear where their ranges differ by less than 1.2e-7).
  bool has_cpu_kernels = false;
  bool is_run = false;  // or else read in documentation
  std::string_view source;
};

std::span<const QuantizationTarget> quantization_targets();
// Null where there is none of that name.
const QuantizationTarget* find_quantization_target(std::string_view name);
// Null where the target lacks it.
const QuantizationScheme* find_scheme(const QuantizationTarget& target, std::string_view name);

}  // namespace sardonyx::targets
