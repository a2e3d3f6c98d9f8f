// The tables of ONNX Runtime, by what they are about. A new one is a file, a line here and a line
// in tables.cpp.
#pragma once

#include "targets/rule.h"

namespace sardonyx::targets {

Rules half_product_rules();
Rules quantized_product_rules();

// Faults of its optimiser, which sees a model before any provider does.
std::span<const Rules> onnxruntime_tables();
// These, and what the kernels of its CPU provider do not do.
std::span<const Rules> onnxruntime_cpu_tables();

}  // namespace sardonyx::targets
