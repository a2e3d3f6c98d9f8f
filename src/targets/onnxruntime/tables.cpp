#include "targets/onnxruntime/tables.h"

#include <array>

namespace sardonyx::targets {

std::span<const Rules> onnxruntime_tables() {
  static const std::array kTables = {
      quantized_product_rules(),
  };
  return kTables;
}

std::span<const Rules> onnxruntime_cpu_tables() {
  static const std::array kTables = {
      quantized_product_rules(),
      half_product_rules(),
  };
  return kTables;
}

}  // namespace sardonyx::targets
