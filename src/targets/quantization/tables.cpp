// Targets that compute on quantized tensors.
#include <algorithm>
#include <array>

#include "targets/quantization/quantization.h"

namespace sardonyx::targets {
namespace {

using base::DType;
using onnx::Op;
using enum QuantizedRole;

// Operators whose result has elements of the input, which every runtime passes through.
#define SARDONYX_MOVES_ELEMENTS                                                       \
  {Op::kMaxPool, kSameScale}, {Op::kReshape, kSameScale}, {Op::kFlatten, kSameScale}, \
      {Op::kTranspose, kSameScale}, {Op::kSqueeze, kSameScale}, {                     \
    Op::kUnsqueeze, kSameScale                                                        \
  }

// Of its QDQ selectors: Conv has an integer kernel only with a quantized result; Gemm and MatMul
// give float32 as well.
constexpr QuantizedOperator kOnnxRuntimeOperators[] = {
    {Op::kConv, kWeightedToInteger},
    {Op::kGemm, kWeighted},
    {Op::kMatMul, kWeighted},
    {Op::kAdd, kComputes},
    {Op::kMul, kComputes},
    {Op::kAveragePool, kComputes},
    {Op::kGlobalAveragePool, kComputes},
    {Op::kLeakyRelu, kComputes},
    {Op::kSigmoid, kComputes},
    {Op::kConcat, kComputes},
    {Op::kRelu, kActivation},
    {Op::kClip, kActivation},
    {Op::kResize, kSameScale},
    SARDONYX_MOVES_ELEMENTS,
};

constexpr QuantizedOperator kOpenVinoOperators[] = {
    {Op::kConv, kWeightedToInteger},
    {Op::kConvTranspose, kWeightedToInteger},
    {Op::kGemm, kWeighted},
    {Op::kMatMul, kWeighted},
    {Op::kMatMul, kProduct},
    {Op::kAdd, kComputes},
    {Op::kMul, kComputes},
    {Op::kAveragePool, kComputes},
    {Op::kGlobalAveragePool, kComputes},
    {Op::kConcat, kSharedScale},
    {Op::kRelu, kActivation},
    {Op::kClip, kActivation},
    SARDONYX_MOVES_ELEMENTS,
};

// Scales between a product and what is fused into it would prevent the fusion: the sum of a product
// and a residual takes the product as it is.
constexpr QuantizedOperator kTensorRtOperators[] = {
    {Op::kConv, kWeighted},
    {Op::kConvTranspose, kWeighted},
    {Op::kGemm, kWeighted},
    {Op::kMatMul, kWeighted},
    {Op::kMatMul, kProduct},
    {Op::kAveragePool, kComputes},
    {Op::kGlobalAveragePool, kComputes},
    {Op::kRelu, kActivation},
    {Op::kClip, kActivation},
    {Op::kMaxPool, kSameScale},
};

// A processor for integers alone: whatever it has no integers for leaves it.
constexpr QuantizedOperator kNpuOperators[] = {
    {Op::kConv, kWeightedToInteger},
    {Op::kConvTranspose, kWeightedToInteger},
    {Op::kGemm, kWeightedToInteger},
    {Op::kMatMul, kWeightedToInteger},
    {Op::kMatMul, kProduct},
    {Op::kAdd, kComputes},
    {Op::kSub, kComputes},
    {Op::kMul, kComputes},
    {Op::kDiv, kComputes},
    {Op::kAveragePool, kComputes},
    {Op::kGlobalAveragePool, kComputes},
    {Op::kLeakyRelu, kComputes},
    {Op::kSigmoid, kComputes},
    {Op::kHardSwish, kComputes},
    {Op::kGelu, kComputes},
    {Op::kSoftmax, kComputes},
    {Op::kLayerNormalization, kComputes},
    {Op::kConcat, kSharedScale},
    {Op::kRelu, kActivation},
    {Op::kClip, kActivation},
    SARDONYX_MOVES_ELEMENTS,
};

#undef SARDONYX_MOVES_ELEMENTS

// QuantizeLinear has 16-bit integers since opset 21, float8 since opset 19, and scales along an
// axis since opset 13.
constexpr QuantizationScheme kEight{"w8a8", DType::kInt8, DType::kUInt8, 13};
constexpr QuantizationScheme kEightSigned{"w8a8", DType::kInt8, DType::kInt8, 13};
constexpr QuantizationScheme kSixteen{"w8a16", DType::kInt8, DType::kUInt16, 21};
constexpr QuantizationScheme kFloat8{"fp8", DType::kFloat8E4M3FN, DType::kFloat8E4M3FN, 19};

constexpr QuantizationScheme kOnnxRuntimeSchemes[] = {kEight, kSixteen};
constexpr QuantizationScheme kOpenVinoSchemes[] = {kEight};
constexpr QuantizationScheme kTensorRtSchemes[] = {kEightSigned, kFloat8};
constexpr QuantizationScheme kQnnSchemes[] = {kSixteen, kEight};
constexpr QuantizationScheme kRyzenSchemes[] = {kEightSigned, kSixteen};

}  // namespace

std::span<const QuantizationTarget> quantization_targets() {
  static constexpr std::array kTargets = {
      QuantizationTarget{.name = "onnxruntime-cpu",
                         .title = "ONNX Runtime's CPU provider",
                         .schemes = kOnnxRuntimeSchemes,
                         .operators = kOnnxRuntimeOperators,
                         .has_cpu_kernels = true,
                         .is_run = true,
                         .source = "run with ONNX Runtime 1.32"},
      QuantizationTarget{.name = "onnxruntime-avx2",
                         .title = "ONNX Runtime's CPU provider on x86 without VNNI",
                         .schemes = kOnnxRuntimeSchemes,
                         .operators = kOnnxRuntimeOperators,
                         .weight_bits = 7,
                         .has_cpu_kernels = true,
                         .is_run = true,
                         .source = "run with ONNX Runtime 1.32; 7 bits as its tool's reduce_range"},
      QuantizationTarget{.name = "openvino",
                         .title = "OpenVINO",
                         .schemes = kOpenVinoSchemes,
                         .operators = kOpenVinoOperators,
                         .integer_bias = false,
                         .source = "read in the documentation of its low-precision passes"},
      QuantizationTarget{.name = "tensorrt",
                         .title = "TensorRT",
                         .schemes = kTensorRtSchemes,
                         .operators = kTensorRtOperators,
                         .symmetric = true,
                         .integer_bias = false,
                         .source = "read in its documentation of quantized types"},
      QuantizationTarget{.name = "qnn",
                         .title = "Qualcomm's QNN",
                         .schemes = kQnnSchemes,
                         .operators = kNpuOperators,
                         .more_bits = DType::kUInt16,
                         .source = "read in ONNX Runtime's documentation of its provider"},
      QuantizationTarget{.name = "ryzen-ai",
                         .title = "AMD's Ryzen AI",
                         .schemes = kRyzenSchemes,
                         .operators = kNpuOperators,
                         .symmetric = true,
                         .per_channel = false,
                         .power_of_two = true,
                         .more_bits = DType::kUInt16,
                         .source = "read in the documentation of Quark's XINT8"},
  };
  return kTargets;
}

const QuantizationTarget* find_quantization_target(std::string_view name) {
  const auto found = std::ranges::find(quantization_targets(), name, &QuantizationTarget::name);
  return found == quantization_targets().end() ? nullptr : &*found;
}

const QuantizationScheme* find_scheme(const QuantizationTarget& target, std::string_view name) {
  const auto found = std::ranges::find(target.schemes, name, &QuantizationScheme::name);
  return found == target.schemes.end() ? nullptr : &*found;
}

}  // namespace sardonyx::targets
