// The tables of TensorRT, read in the list of operators of its reader of ONNX models
// (onnx-tensorrt's docs/operators.md), by what they are about. A new one is a file, a line here and
// a line in tables.cpp. None was run: that takes a GPU.
#pragma once

#include "targets/rule.h"

namespace sardonyx::targets {

Rules tensorrt_attention_rules();
Rules tensorrt_image_rules();
Rules tensorrt_integer_rules();
Rules tensorrt_quantizer_rules();
Rules tensorrt_scatter_rules();
Rules tensorrt_sorting_rules();

std::span<const Rules> tensorrt_tables();

}  // namespace sardonyx::targets
