// Functions of numbers that ONNX lacks, from those it has.
#pragma once

#include "onnx/emit/emit.h"

namespace sardonyx::onnx {

// log(1 + x) and exp(x) - 1 without losing small x. Of floating numbers; infinities too.
Value log_one_plus(Emit& onnx, Value x);
Value exp_minus_one(Emit& onnx, Value x);

}  // namespace sardonyx::onnx
