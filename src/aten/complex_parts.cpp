// Making complex tensors and taking them apart; conversions of their type.
#include "aten/complex_math.h"
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

Outputs view_as_complex(const Call& call, Emit& onnx) {
  return {as_complex(onnx, onnx.identity(call.tensor("self")))};
}

// The same pairs, as a real tensor.
Value pairs_of(Emit& onnx, Value x) {
  const Value pairs = onnx.identity(x);
  pairs->is_complex = false;
  return pairs;
}

Outputs view_as_real(const Call& call, Emit& onnx) { return {pairs_of(onnx, call.tensor("self"))}; }

// Of the same width: pairs of floats side by side as the last axis, and the reverse.
Outputs view_dtype(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const DType result = call.result_dtype();
  if (self.dtype() != base::real_of(result)) {
    call.refuse("a complex tensor viewed as another type of another width",
                "convert it with to(), or view its real and imaginary parts");
  }
  if (self.is_complex() && base::is_complex(result)) return {self};
  if (self.is_complex()) {
    return {onnx.reshape(pairs_of(onnx, self), call.result_shape())};
  }
  return {as_complex(onnx, onnx.reshape(onnx.identity(self), paired_result_shape(call)))};
}

Outputs complex(const Call& call, Emit& onnx) {
  const Value real = call.tensor("real"), imaginary = call.tensor("imag");
  return {from_parts(onnx, onnx.expand(real, call.result_shape()),
                     onnx.expand(imaginary, call.result_shape()))};
}

Outputs polar(const Call& call, Emit& onnx) {
  const Value abs = call.tensor("abs"), angle = call.tensor("angle");
  return {from_parts(onnx, onnx.mul(abs, onnx.cos(angle)), onnx.mul(abs, onnx.sin(angle)))};
}

Outputs real(const Call& call, Emit& onnx) { return {parts_of(onnx, call.tensor("self")).real}; }
Outputs imag(const Call& call, Emit& onnx) {
  return {parts_of(onnx, call.tensor("self")).imaginary};
}

Outputs conj(const Call& call, Emit& onnx) {
  return {joined(onnx, ComplexMath(onnx).conj(parts_of(onnx, call.tensor("self"))))};
}

// The conjugate transpose.
Outputs adjoint(const Call& call, Emit& onnx) {
  const Parts x = ComplexMath(onnx).conj(parts_of(onnx, call.tensor("self")));
  if (call.result_rank() < 2) return {joined(onnx, x)};
  return {joined(onnx, each_part(x, [&](Value part) { return onnx.swap_axes(part, -1, -2); }))};
}

Outputs same(const Call& call, Emit& /*onnx*/) { return {call.tensor("self")}; }

// A complex number becomes a real one by losing its imaginary part, and is true unless it is 0.
Outputs to(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const DType result = call.result_dtype(), dtype = base::real_of(result);
  if (!base::is_complex(result)) {
    if (!self.is_complex()) return {onnx.cast(self, result)};
    const Parts x = parts_of(onnx, self);
    if (result == DType::kBool) return {onnx.not_(ComplexMath(onnx).is_zero(x))};
    return {onnx.cast(x.real, result)};
  }
  if (self.is_complex() && self.dtype() == dtype) return {self};
  const Parts parts =
      each_part(parts_of(onnx, self), [&](Value part) { return onnx.cast(part, dtype); });
  return {joined(onnx, ComplexMath(onnx).complete(parts))};
}

Outputs nothing(const Call& /*call*/, Emit& /*onnx*/) { return {}; }

constexpr Row kRows[] = {
    {"aten::_assert_tensor_metadata(Tensor a, SymInt[]? size=None, SymInt[]? stride=None, "
     "ScalarType? dtype=None, *, Device? device=None, Layout? layout=None) -> ()",
     13, nothing},
    {"aten::_cast_Byte(Tensor self, bool non_blocking=False) -> Tensor", 13, to},
    {"aten::_cast_Char(Tensor self, bool non_blocking=False) -> Tensor", 13, to},
    {"aten::_cast_Double(Tensor self, bool non_blocking=False) -> Tensor", 13, to},
    {"aten::_cast_Float(Tensor self, bool non_blocking=False) -> Tensor", 13, to},
    {"aten::_cast_Half(Tensor self, bool non_blocking=False) -> Tensor", 13, to},
    {"aten::_cast_Int(Tensor self, bool non_blocking=False) -> Tensor", 13, to},
    {"aten::_cast_Long(Tensor self, bool non_blocking=False) -> Tensor", 13, to},
    {"aten::_cast_Short(Tensor self, bool non_blocking=False) -> Tensor", 13, to},
    {"aten::_conj(Tensor(a) self) -> Tensor(a)", 13, conj},
    {"aten::_conj_physical(Tensor self) -> Tensor", 13, conj},
    {"aten::_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None, bool non_blocking=False, MemoryFormat? "
     "memory_format=None) -> Tensor",
     13, to},
    {"aten::adjoint(Tensor(a) self) -> Tensor(a)", 13, adjoint},
    {"aten::alias(Tensor(a) self) -> Tensor(a)", 13, same},
    {"aten::alias_copy(Tensor self) -> Tensor", 13, same},
    {"aten::clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", 13, same},
    {"aten::complex(Tensor real, Tensor imag) -> Tensor", 13, complex},
    {"aten::conj(Tensor(a) self) -> Tensor(a)", 13, conj},
    {"aten::conj_physical(Tensor self) -> Tensor", 13, conj},
    {"aten::contiguous(Tensor(a) self, *, MemoryFormat memory_format=0) -> Tensor(a)", 13, same},
    {"aten::cpu(Tensor(a) self) -> Tensor(b|a)", 13, same},
    {"aten::cuda(Tensor(a) self) -> Tensor(b|a)", 13, same},
    {"aten::detach(Tensor(a) self) -> Tensor(a)", 13, same},
    {"aten::detach_copy(Tensor self) -> Tensor", 13, same},
    {"aten::imag(Tensor(a) self) -> Tensor(a)", 13, imag},
    {"aten::lift(Tensor self) -> Tensor", 13, same},
    {"aten::lift_fresh(Tensor(a) self) -> Tensor(a)", 13, same},
    {"aten::lift_fresh_copy(Tensor self) -> Tensor", 13, same},
    {"aten::mH(Tensor(a) self) -> Tensor(a)", 13, adjoint},
    {"aten::matrix_H(Tensor(a) self) -> Tensor(a)", 13, adjoint},
    {"aten::pin_memory(Tensor(a) self, Device? device=None) -> Tensor(a)", 13, same},
    {"aten::polar(Tensor abs, Tensor angle) -> Tensor", 13, polar},
    {"aten::positive(Tensor(a) self) -> Tensor(a)", 13, same},
    {"aten::real(Tensor(a) self) -> Tensor(a)", 13, real},
    {"aten::resolve_conj(Tensor(a) self) -> Tensor(a)", 13, same},
    {"aten::resolve_neg(Tensor(a) self) -> Tensor(a)", 13, same},
    {"aten::to.device(Tensor(a) self, Device device, ScalarType dtype, bool non_blocking=False, "
     "bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
     13, to},
    {"aten::to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, "
     "MemoryFormat? memory_format=None) -> Tensor(a)",
     13, to},
    {"aten::to.dtype_layout(Tensor(a) self, *, ScalarType? dtype=None, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None, bool non_blocking=False, bool copy=False, "
     "MemoryFormat? memory_format=None) -> Tensor(a)",
     13, to},
    {"aten::to.other(Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False, "
     "MemoryFormat? memory_format=None) -> Tensor(a)",
     13, to},
    {"aten::to.prim_Device(Tensor(a) self, Device? device, int? dtype=None, bool "
     "non_blocking=False, bool copy=False) -> Tensor(b|a)",
     13, to},
    {"aten::to.prim_dtype(Tensor(a) self, int? dtype=None, bool non_blocking=False, bool "
     "copy=False) -> Tensor(b|a)",
     13, to},
    {"aten::to.prim_other(Tensor(a) self, bool non_blocking=False, bool copy=False) -> Tensor(b|a)",
     13, to},
    {"aten::type_as(Tensor self, Tensor other) -> Tensor", 13, to},
    {"aten::view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)", 13, view_dtype},
    {"aten::view_as_complex(Tensor(a) self) -> Tensor(a)", 13, view_as_complex},
    {"aten::view_as_complex_copy(Tensor self) -> Tensor", 13, view_as_complex},
    {"aten::view_as_real(Tensor(a) self) -> Tensor(a)", 13, view_as_real},
    {"aten::view_as_real_copy(Tensor self) -> Tensor", 13, view_as_real},
    {"aten::view_copy.dtype(Tensor self, ScalarType dtype) -> Tensor", 13, view_dtype},
};

}  // namespace

std::span<const Row> complex_parts_rows() { return kRows; }

}  // namespace sardonyx::aten
