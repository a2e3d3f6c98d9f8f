#include "aten/complex_value.h"

namespace sardonyx::aten {

Value as_complex(Emit& onnx, Value pairs) {
  if (pairs.is_complex()) return pairs;
  const Value marked = pairs->producer ? pairs : onnx.identity(pairs);
  const Value own = marked->uses.empty() && !marked->is_complex ? marked : onnx.identity(marked);
  own->is_complex = true;
  return own;
}

Parts parts_of(Emit& onnx, Value x) {
  if (!x.is_complex()) return {x, {}};
  return {onnx.select(x, -1, 0), onnx.select(x, -1, 1)};
}

Value from_parts(Emit& onnx, Value real, Value imaginary) {
  return as_complex(onnx,
                    onnx.concat({onnx.unsqueeze(real, {-1}), onnx.unsqueeze(imaginary, {-1})}, -1));
}

Shape paired_result_shape(const Call& call) {
  Shape shape = call.result_shape();
  shape.emplace_back(2);
  return shape;
}

}  // namespace sardonyx::aten
