// TypeProto to the type of a value.
#pragma once

#include <string_view>

#include "onnx/graph/ir.h"

namespace sardonyx::proto {

// Sets kind, element type and shape; true where the type says more than these can hold. Maps,
// sparse tensors and nested sequences are TypeKind::kOther. Throws SX1151.
bool read_type(std::string_view message, onnx::ValueInfo& value, symbolic::Pool& pool);

}  // namespace sardonyx::proto
