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

  bool is_complex() const { return static_cast<bool>(imaginary); }
};
// Of a value that from_parts() made: what it was made of.
Parts parts_of(Emit& onnx, Value x);
Value from_parts(Emit& onnx, Value real, Value imaginary);
// A complex value, or the real part where there is no imaginary one.
Value joined(Emit& onnx, const Parts& parts);

// The argument, tensor or number, in parts of this real type; real ones without an imaginary part.
Parts parts_of_operand(const Call& call, Emit& onnx, std::string_view name, DType dtype);

// The same done to both parts.
template <class Do>
Parts each_part(const Parts& x, const Do& act) {
  return {act(x.real), x.imaginary ? act(x.imaginary) : Value{}};
}

// The call's result shape with the trailing pair.
Shape paired_result_shape(const Call& call);

}  // namespace sardonyx::aten
