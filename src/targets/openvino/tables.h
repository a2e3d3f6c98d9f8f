// The tables of OpenVINO's CPU plugin, by what they are about. A new one is a file, a line here and
// a line in tables.cpp.
#pragma once

#include "targets/rule.h"

namespace sardonyx::targets {

Rules openvino_byte_rules();
Rules openvino_comparison_rules();
Rules openvino_image_rules();
Rules openvino_length_rules();
Rules openvino_quantizer_rules();

std::span<const Rules> openvino_tables();

}  // namespace sardonyx::targets
