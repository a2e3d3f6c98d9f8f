// The tables of ONNX Runtime, by what they are about. A new one is a file, a line here and a line
// in tables.cpp.
#pragma once

#include "targets/rule.h"

namespace sardonyx::targets {

Rules cuda_integer_rules();
Rules cuda_padding_rules();
Rules cuda_pooling_rules();
Rules attention_mask_rules();
Rules bit_rules();
Rules cast_rules();
Rules convolution_rules();
Rules emptiness_rules();
Rules half_product_rules();
Rules half_scatter_rules();
Rules log_softmax_rules();
Rules long_integer_rules();
Rules network_rules();
Rules group_normalization_rules();
Rules instance_normalization_rules();
Rules padded_pooling_rules();
Rules pooling_rules();
Rules position_rules();
Rules quantized_product_rules();
Rules quotient_rules();
Rules range_rules();
Rules repeated_cast_rules();
Rules residual_rules();
Rules resizing_rules();
Rules rules_without_vnni();
Rules sampling_rules();
Rules scale_rules();

// Faults of its optimizer, which sees a model before any provider does.
std::span<const Rules> onnxruntime_tables();
// These, and what its CUDA provider has no kernels for.
std::span<const Rules> onnxruntime_cuda_tables();
// These, and what its WebGPU provider has no kernels for.
std::span<const Rules> onnxruntime_webgpu_tables();
// Those of the optimizer, and what the kernels of its CPU provider do not do.
std::span<const Rules> onnxruntime_cpu_tables();
// The same on x86 before VNNI.
std::span<const Rules> onnxruntime_avx2_tables();

}  // namespace sardonyx::targets
