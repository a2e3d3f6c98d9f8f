// Maxima over windows, for operators that say otherwise where these stood.
#pragma once

#include "aten/call.h"

namespace sardonyx::aten {

// The maxima and, where the program reads them, their places in the plane (int64), of a call with
// max_pool2d's arguments.
Outputs max_pool(const Call& call, Emit& onnx);

}  // namespace sardonyx::aten
