#include "targets/tensorrt/tables.h"

#include <array>

namespace sardonyx::targets {

std::span<const Rules> tensorrt_tables() {
  static const std::array kTables = {
      tensorrt_image_rules(),
      tensorrt_integer_rules(),
      tensorrt_quantizer_rules(),
  };
  return kTables;
}

}  // namespace sardonyx::targets
