// Complex tensors in ONNX, which has none in its operators: a trailing axis of size 2 holds the
// real and the imaginary part, and Value::is_complex() says that it means so.
#pragma once

#include "aten/call.h"

namespace sardonyx::aten {

// The pairs as a complex value. Not the value itself, which may serve as a real tensor elsewhere.
Value as_complex(Emit& onnx, Value pairs);

// Real and imaginary parts, without the trailing axis. A real value has no imaginary part.
struct Parts {
  Value real, imaginary;
};
Parts parts_of(Emit& onnx, Value x);
Value from_parts(Emit& onnx, Value real, Value imaginary);

// The call's result shape with the trailing pair.
Shape paired_result_shape(const Call& call);

}  // namespace sardonyx::aten
