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
    {"aten::_assert_tensor_metadata", nothing},
    {"aten::_cast_Byte", to},
    {"aten::_cast_Char", to},
    {"aten::_cast_Double", to},
    {"aten::_cast_Float", to},
    {"aten::_cast_Half", to},
    {"aten::_cast_Int", to},
    {"aten::_cast_Long", to},
    {"aten::_cast_Short", to},
    {"aten::_conj(Tensor(a) self) -> Tensor(a)", conj},
    {"aten::_conj_copy(Tensor self) -> Tensor", conj},
    {"aten::_conj_physical(Tensor self) -> Tensor", conj},
    {"aten::_to_copy", to},
    {"aten::adjoint", adjoint},
    {"aten::alias", same},
    {"aten::alias_copy", same},
    {"aten::clone", same},
    {"aten::complex(Tensor real, Tensor imag) -> Tensor", complex},
    {"aten::conj", conj},
    {"aten::conj_physical", conj},
    {"aten::contiguous", same},
    {"aten::cpu", same},
    {"aten::cuda", same},
    {"aten::detach", same},
    {"aten::detach_copy", same},
    {"aten::imag(Tensor(a) self) -> Tensor(a)", imag},
    {"aten::lift", same},
    {"aten::lift_fresh", same},
    {"aten::lift_fresh_copy", same},
    {"aten::mH", adjoint},
    {"aten::matrix_H", adjoint},
    {"aten::pin_memory", same},
    {"aten::polar(Tensor abs, Tensor angle) -> Tensor", polar},
    {"aten::positive", same},
    {"aten::real", real},
    {"aten::resolve_conj", same},
    {"aten::resolve_neg", same},
    {"aten::to.device", to},
    {"aten::to.dtype", to},
    {"aten::to.dtype_layout", to},
    {"aten::to.other", to},
    {"aten::to.prim_Device", to},
    {"aten::to.prim_dtype", to},
    {"aten::to.prim_other", to},
    {"aten::type_as", to},
    {"aten::view.dtype", view_dtype},
    {"aten::view_as_complex(Tensor(a) self) -> Tensor(a)", view_as_complex},
    {"aten::view_as_complex_copy(Tensor self) -> Tensor", view_as_complex},
    {"aten::view_as_real(Tensor(a) self) -> Tensor(a)", view_as_real},
    {"aten::view_as_real_copy(Tensor self) -> Tensor", view_as_real},
    {"aten::view_copy.dtype", view_dtype},
};

}  // namespace

std::span<const Row> complex_parts_rows() { return kRows; }

}  // namespace sardonyx::aten
