// Norms of vectors along axes.
#pragma once

#include <vector>

#include "aten/call.h"

namespace sardonyx::aten {

// (sum |x|^p)^(1/p) over the axes (none: of each element by itself), with the limits at 0 and at
// the infinities. NaN where any element is.
Value vector_norm(Emit& onnx, Value x, const std::vector<std::int64_t>& axes, bool keep,
                  double order);

}  // namespace sardonyx::aten
