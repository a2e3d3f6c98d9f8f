#include "targets/tensorrt/tables.h"

#include <array>

namespace sardonyx::targets {

std::span<const Rules> tensorrt_tables() {
  static const std::array kTables = {
      tensorrt_attention_rules(), tensorrt_image_rules(),   tensorrt_integer_rules(),
      tensorrt_quantizer_rules(), tensorrt_scatter_rules(), tensorrt_sorting_rules(),
  };
  return kTables;
}

}  // namespace sardonyx::targets
