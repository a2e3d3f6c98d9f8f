// Lists of tensors whose length only a run tells, or whose elements differ in size: ONNX's
// sequences.
#pragma once

#include <span>

#include "aten/families.h"

namespace sardonyx::aten {

std::span<const Row> list_rows();

}  // namespace sardonyx::aten
