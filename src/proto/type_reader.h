// TypeProto to the type of a value.
#pragma once

#include <string_view>

#include "onnx/graph/ir.h"

namespace sardonyx::proto {

// Sets kind, element type and shape. Throws SX1151, and SX1153 for maps, sparse tensors and
// sequences or optionals of anything but tensors.
void read_type(std::string_view message, onnx::ValueInfo& value, symbolic::Pool& pool);

}  // namespace sardonyx::proto
