// Elements that are dropped at random in training.
#pragma once

#include <span>

#include "aten/call.h"

namespace sardonyx::aten {

// bool of this shape: true with probability 1 - p, drawn anew each time that the model runs.
Value kept_at_random(Emit& onnx, std::span<const Expr> shape, double p);

// x, floating, with elements made 0 with probability p and the others scaled up to keep its mean.
Value dropped(Emit& onnx, Value x, double p);

}  // namespace sardonyx::aten
