// An attribute's value for people to read.
#pragma once

#include <string>

#include "onnx/graph/ir.h"

namespace sardonyx::viewer {

// "[1, 1]", "0.5", "\"SAME_UPPER\"", "float32[3]"; lists end after a few entries.
std::string attribute_text(const onnx::Attribute& attribute);

}  // namespace sardonyx::viewer
