// The numbers by which a saved program names types, layouts and memory formats.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/dtype.h"

namespace sardonyx::pt2 {

// Throws SX1221 for one that ONNX has nothing for, SX1105 for one that PyTorch does not write.
base::DType dtype_of(std::int64_t number);
// "strided", "contiguous_format"; throw SX1105.
std::string layout_of(std::int64_t number);
std::string memory_format_of(std::int64_t number);

}  // namespace sardonyx::pt2
