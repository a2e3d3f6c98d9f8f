// Sequences of different lengths, as PyTorch packs them: the rows of all sequences at the first
// step, then those at the second, ..., the longest sequence first, and how many there are at each.
#pragma once

#include "aten/call.h"

namespace sardonyx::aten {

// The same side by side: [time, batch, ...], where what lies behind a sequence's end is anything.
struct Padded {
  Value values;
  Value lengths;  // int64 [batch]
};

// Of a call's arguments `data` and `batch_sizes`.
Padded padded(const Call& call, Emit& onnx);

// The rows that lie within the lengths; padded() of them is what was given here.
Value packed(const Call& call, Emit& onnx, const Padded& sequences);

}  // namespace sardonyx::aten
