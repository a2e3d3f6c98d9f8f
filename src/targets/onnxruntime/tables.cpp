#include "targets/onnxruntime/tables.h"

#include <array>

namespace sardonyx::targets {

std::span<const Rules> onnxruntime_tables() {
  static const std::array kTables = {
      quantized_product_rules(),
      padded_pooling_rules(),
      quotient_rules(),
      range_rules(),
      scale_rules(),
  };
  return kTables;
}

std::span<const Rules> onnxruntime_cpu_tables() {
  static const std::array kTables = {
      quantized_product_rules(), half_product_rules(), padded_pooling_rules(),
      quotient_rules(),          range_rules(),        scale_rules(),
      convolution_rules(),       pooling_rules(),      resizing_rules(),
      sampling_rules(),          cast_rules(),         emptiness_rules(),
      half_scatter_rules(),      long_integer_rules(), network_rules(),
      residual_rules(),
  };
  return kTables;
}

}  // namespace sardonyx::targets
