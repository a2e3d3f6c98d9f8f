#include "aten/complex/value.h"

#include "onnx/graph/ir.h"

namespace sardonyx::aten {
namespace {

// What an Unsqueeze of the last axis was given; absent for anything else.
Value before_last_unsqueeze(const onnx::ValueInfo* value) {
  const onnx::Node* node = value->producer;
  if (node == nullptr || !node->is("Unsqueeze")) return {};
  const Value x = node->input(0);
  return x.has_rank() && Value(node->output()).rank() == x.rank() + 1 ? x : Value{};
}

// Parts that from_parts() has put together need not be split again.
Parts parts_put_together(Value x) {
  const onnx::Node* node = x->producer;
  if (node == nullptr || !node->is("Concat") || node->inputs.size() != 2) return {};
  if (node->int_or("axis", 0) != x.rank() - 1) return {};
  return {before_last_unsqueeze(node->inputs[0]), before_last_unsqueeze(node->inputs[1])};
}

}  // namespace

Value as_complex(Emit& onnx, Value pairs) {
  if (pairs.is_complex()) return pairs;
  const Value marked = pairs->producer ? pairs : onnx.identity(pairs);
  const Value own = marked->uses.empty() && !marked->is_complex ? marked : onnx.identity(marked);
  own->is_complex = true;
  return own;
}

Parts parts_of(Emit& onnx, Value x) {
  if (!x.is_complex()) return {x, {}};
  if (const Parts known = parts_put_together(x); known.real && known.imaginary) return known;
  return {onnx.select(x, -1, 0), onnx.select(x, -1, 1)};
}

Value from_parts(Emit& onnx, Value real, Value imaginary) {
  return as_complex(onnx,
                    onnx.concat({onnx.unsqueeze(real, {-1}), onnx.unsqueeze(imaginary, {-1})}, -1));
}

Value joined(Emit& onnx, const Parts& parts) {
  return parts.imaginary ? from_parts(onnx, parts.real, parts.imaginary) : parts.real;
}

Parts parts_of_operand(const Call& call, Emit& onnx, std::string_view name, DType dtype) {
  if (call.argument(name).get<program::Value*>()) {
    return each_part(parts_of(onnx, call.tensor(name)),
                     [&](Value part) { return onnx.cast(part, dtype); });
  }
  const Scalar number = call.scalar(name);
  if (!number.is_complex()) return {scalar_value(onnx, number, dtype), {}};
  const std::complex<double> value = number.as_complex();
  return {onnx.scalar(value.real(), dtype), onnx.scalar(value.imag(), dtype)};
}

Shape paired_result_shape(const Call& call) {
  Shape shape = call.result_shape();
  shape.emplace_back(2);
  return shape;
}

}  // namespace sardonyx::aten
