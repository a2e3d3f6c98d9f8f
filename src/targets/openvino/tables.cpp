#include "targets/openvino/tables.h"

#include <array>

namespace sardonyx::targets {

std::span<const Rules> openvino_tables() {
  static const std::array kTables = {
      openvino_byte_rules(),   openvino_comparison_rules(), openvino_image_rules(),
      openvino_length_rules(), openvino_quantizer_rules(),
  };
  return kTables;
}

}  // namespace sardonyx::targets
