// Making complex tensors, taking them apart, and their arithmetic.
#include "aten/complex_value.h"
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

Outputs view_as_complex(const Call& call, Emit& onnx) {
  return {as_complex(onnx, onnx.identity(call.tensor("self")))};
}

// The same pairs, as a real tensor.
Outputs view_as_real(const Call& call, Emit& onnx) {
  const Value pairs = onnx.identity(call.tensor("self"));
  pairs->is_complex = false;
  return {pairs};
}

Outputs complex(const Call& call, Emit& onnx) {
  return {from_parts(onnx, call.tensor("real"), call.tensor("imag"))};
}

Outputs polar(const Call& call, Emit& onnx) {
  const Value abs = call.tensor("abs"), angle = call.tensor("angle");
  return {from_parts(onnx, onnx.mul(abs, onnx.cos(angle)), onnx.mul(abs, onnx.sin(angle)))};
}

Outputs real(const Call& call, Emit& onnx) { return {parts_of(onnx, call.tensor("self")).real}; }
Outputs imag(const Call& call, Emit& onnx) {
  return {parts_of(onnx, call.tensor("self")).imaginary};
}

Outputs abs(const Call& call, Emit& onnx) {
  const Parts x = parts_of(onnx, call.tensor("self"));
  return {onnx.sqrt(onnx.add(onnx.mul(x.real, x.real), onnx.mul(x.imaginary, x.imaginary)))};
}

Outputs conj(const Call& call, Emit& onnx) {
  const Parts x = parts_of(onnx, call.tensor("self"));
  return {from_parts(onnx, x.real, onnx.neg(x.imaginary))};
}

Outputs same(const Call& call, Emit& /*onnx*/) { return {call.tensor("self")}; }

// A number or a tensor, in parts of the result's real type; numbers may be complex.
Parts operand(const Call& call, Emit& onnx, std::string_view name) {
  const DType dtype = base::real_of(call.result_dtype());
  if (call.argument(name).get<program::Value*>()) {
    const Parts parts = parts_of(onnx, call.tensor(name));
    return {onnx.cast(parts.real, dtype),
            parts.imaginary ? onnx.cast(parts.imaginary, dtype) : Value{}};
  }
  const Scalar number = call.scalar(name);
  if (!number.is_complex()) return {scalar_value(onnx, number, dtype), {}};
  const std::complex<double> value = number.as_complex();
  return {onnx.scalar(value.real(), dtype), onnx.scalar(value.imag(), dtype)};
}

Outputs mul(const Call& call, Emit& onnx) {
  const Parts a = operand(call, onnx, "self"), b = operand(call, onnx, "other");
  if (!a.imaginary) {
    return {from_parts(onnx, onnx.mul(a.real, b.real), onnx.mul(a.real, b.imaginary))};
  }
  if (!b.imaginary) {
    return {from_parts(onnx, onnx.mul(a.real, b.real), onnx.mul(a.imaginary, b.real))};
  }
  const Value re = onnx.sub(onnx.mul(a.real, b.real), onnx.mul(a.imaginary, b.imaginary));
  const Value im = onnx.add(onnx.mul(a.real, b.imaginary), onnx.mul(a.imaginary, b.real));
  return {from_parts(onnx, re, im)};
}

Value imaginary_or_zero(Emit& onnx, const Parts& x) {
  return x.imaginary ? x.imaginary : onnx.mul(x.real, onnx.zero(x.real.dtype()));
}

Outputs sum_of(const Call& call, Emit& onnx, bool subtract) {
  if (!call.scalar("alpha").is(1)) call.refuse("a sum of complex tensors with alpha");
  const Parts a = operand(call, onnx, "self"), b = operand(call, onnx, "other");
  const auto combine = [&](Value x, Value y) { return subtract ? onnx.sub(x, y) : onnx.add(x, y); };
  return {from_parts(onnx, combine(a.real, b.real),
                     combine(imaginary_or_zero(onnx, a), imaginary_or_zero(onnx, b)))};
}

Outputs add(const Call& call, Emit& onnx) { return sum_of(call, onnx, false); }
Outputs sub(const Call& call, Emit& onnx) { return sum_of(call, onnx, true); }

// Between complex types only: between real and complex it would change meaning.
Outputs to(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const DType result = call.result_dtype();
  if (!base::is_complex(result)) return {onnx.cast(parts_of(onnx, self).real, result)};
  const DType dtype = base::real_of(result);
  if (!self.is_complex()) {
    const Value x = onnx.cast(self, dtype);
    return {from_parts(onnx, x, onnx.full(x.shape(), onnx.zero(dtype)))};
  }
  return {as_complex(onnx, onnx.cast(self, dtype))};
}

Outputs nothing(const Call& /*call*/, Emit& /*onnx*/) { return {}; }

constexpr Row kRows[] = {
    {"aten::_assert_tensor_metadata(Tensor a, SymInt[]? size=None, SymInt[]? stride=None, "
     "ScalarType? dtype=None, *, Device? device=None, Layout? layout=None) -> ()",
     13, nothing},
    {"aten::_conj(Tensor(a) self) -> Tensor(a)", 13, conj},
    {"aten::_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None, bool non_blocking=False, MemoryFormat? "
     "memory_format=None) -> Tensor",
     13, to},
    {"aten::abs(Tensor self) -> Tensor", 13, abs},
    {"aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", 13, add},
    {"aten::alias(Tensor(a) self) -> Tensor(a)", 13, same},
    {"aten::clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", 13, same},
    {"aten::complex(Tensor real, Tensor imag) -> Tensor", 13, complex},
    {"aten::conj(Tensor(a) self) -> Tensor(a)", 13, conj},
    {"aten::conj_physical(Tensor self) -> Tensor", 13, conj},
    {"aten::contiguous(Tensor(a) self, *, MemoryFormat memory_format=0) -> Tensor(a)", 13, same},
    {"aten::detach(Tensor(a) self) -> Tensor(a)", 13, same},
    {"aten::imag(Tensor(a) self) -> Tensor(a)", 13, imag},
    {"aten::lift_fresh_copy(Tensor self) -> Tensor", 13, same},
    {"aten::mul.Scalar(Tensor self, Scalar other) -> Tensor", 13, mul},
    {"aten::mul.Tensor(Tensor self, Tensor other) -> Tensor", 13, mul},
    {"aten::polar(Tensor abs, Tensor angle) -> Tensor", 13, polar},
    {"aten::real(Tensor(a) self) -> Tensor(a)", 13, real},
    {"aten::resolve_conj(Tensor(a) self) -> Tensor(a)", 13, same},
    {"aten::resolve_neg(Tensor(a) self) -> Tensor(a)", 13, same},
    {"aten::sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", 13, sub},
    {"aten::to.device(Tensor(a) self, Device device, ScalarType dtype, bool non_blocking=False, "
     "bool "
     "copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
     13, to},
    {"aten::to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, "
     "MemoryFormat? memory_format=None) -> Tensor(a)",
     13, to},
    {"aten::to.dtype_layout(Tensor(a) self, *, ScalarType? dtype=None, Layout? layout=None, "
     "Device? "
     "device=None, bool? pin_memory=None, bool non_blocking=False, bool copy=False, MemoryFormat? "
     "memory_format=None) -> Tensor(a)",
     13, to},
    {"aten::view_as_complex(Tensor(a) self) -> Tensor(a)", 13, view_as_complex},
    {"aten::view_as_real(Tensor(a) self) -> Tensor(a)", 13, view_as_real},
};

}  // namespace

std::span<const Row> complex_arithmetic_rows() { return kRows; }

}  // namespace sardonyx::aten
