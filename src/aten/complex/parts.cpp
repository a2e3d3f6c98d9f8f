// Making complex tensors and taking them apart; conversions of their type.
#include "aten/complex/math.h"
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
    {"aten::_assert_tensor_metadata", 13, nothing},
    {"aten::_cast_Byte", 13, to},
    {"aten::_cast_Char", 13, to},
    {"aten::_cast_Double", 13, to},
    {"aten::_cast_Float", 13, to},
    {"aten::_cast_Half", 13, to},
    {"aten::_cast_Int", 13, to},
    {"aten::_cast_Long", 13, to},
    {"aten::_cast_Short", 13, to},
    {"aten::_conj(Tensor(a) self) -> Tensor(a)", 13, conj},
    {"aten::_conj_copy(Tensor self) -> Tensor", 13, conj},
    {"aten::_conj_physical(Tensor self) -> Tensor", 13, conj},
    {"aten::_to_copy", 13, to},
    {"aten::adjoint", 13, adjoint},
    {"aten::alias", 13, same},
    {"aten::alias_copy", 13, same},
    {"aten::clone", 13, same},
    {"aten::complex(Tensor real, Tensor imag) -> Tensor", 13, complex},
    {"aten::conj", 13, conj},
    {"aten::conj_physical", 13, conj},
    {"aten::contiguous", 13, same},
    {"aten::cpu", 13, same},
    {"aten::cuda", 13, same},
    {"aten::detach", 13, same},
    {"aten::detach_copy", 13, same},
    {"aten::imag(Tensor(a) self) -> Tensor(a)", 13, imag},
    {"aten::lift", 13, same},
    {"aten::lift_fresh", 13, same},
    {"aten::lift_fresh_copy", 13, same},
    {"aten::mH", 13, adjoint},
    {"aten::matrix_H", 13, adjoint},
    {"aten::pin_memory", 13, same},
    {"aten::polar(Tensor abs, Tensor angle) -> Tensor", 13, polar},
    {"aten::positive", 13, same},
    {"aten::real", 13, real},
    {"aten::resolve_conj", 13, same},
    {"aten::resolve_neg", 13, same},
    {"aten::to.device", 13, to},
    {"aten::to.dtype", 13, to},
    {"aten::to.dtype_layout", 13, to},
    {"aten::to.other", 13, to},
    {"aten::to.prim_Device", 13, to},
    {"aten::to.prim_dtype", 13, to},
    {"aten::to.prim_other", 13, to},
    {"aten::type_as", 13, to},
    {"aten::view.dtype", 13, view_dtype},
    {"aten::view_as_complex(Tensor(a) self) -> Tensor(a)", 13, view_as_complex},
    {"aten::view_as_complex_copy(Tensor self) -> Tensor", 13, view_as_complex},
    {"aten::view_as_real(Tensor(a) self) -> Tensor(a)", 13, view_as_real},
    {"aten::view_as_real_copy(Tensor self) -> Tensor", 13, view_as_real},
    {"aten::view_copy.dtype", 13, view_dtype},
};

}  // namespace

std::span<const Row> complex_parts_rows() { return kRows; }

}  // namespace sardonyx::aten
