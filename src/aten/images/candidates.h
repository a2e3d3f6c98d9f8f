// Maxima over gathered candidates, with where they stood: pooling windows that MaxPool has not.
#pragma once

#include "aten/call.h"

namespace sardonyx::aten {

struct Best {
  Value values;   // [...]
  Value indices;  // int64 [...]: which candidate
};

// The largest of the candidates [..., K]: the first among equals, the last NaN if there is one.
Best best_of(Emit& onnx, Value candidates);

}  // namespace sardonyx::aten
