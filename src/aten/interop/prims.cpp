// PyTorch's primitives (torch._prims), which its references take operators apart into. They promote
// nothing, and most are an ATen operator of the same arguments.
#include <algorithm>
#include <limits>

#include "aten/elementwise/operands.h"
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

template <std::size_t size>
struct Name {
  char text[size];
  // NOLINTNEXTLINE(google-explicit-constructor): a template argument is written as a literal.
  constexpr Name(const char (&literal)[size]) { std::copy_n(literal, size, text); }
};

// The translation of this ATen operator, whose arguments have the same names.
template <Name name>
Outputs as(const Call& call, Emit& onnx) {
  return find_translator(name.text, false)(call, onnx);
}

Outputs add(const Call& call, Emit& onnx) {
  const auto [self, other] = operands(call, onnx);
  return {self.dtype() == DType::kBool ? onnx.or_(self, other) : onnx.add(self, other)};
}

Outputs sub(const Call& call, Emit& onnx) {
  const auto [self, other] = operands(call, onnx);
  return {onnx.sub(self, other)};
}

Outputs unchanged(const Call& call, Emit& /*onnx*/) { return {call.tensor("a")}; }

// The captured result says the shape.
Outputs reshape(const Call& call, Emit& onnx) {
  return {onnx.reshape(call.tensor("a"), call.result_shape())};
}

Outputs transpose(const Call& call, Emit& onnx) {
  return {onnx.transpose(call.tensor("a"), call.integers("permutation"))};
}

Outputs rev(const Call& call, Emit& onnx) {
  Value x = call.tensor("a");
  for (const std::int64_t axis : call.axes("dims", x.rank())) {
    x = onnx.slice(x, axis, -1, std::numeric_limits<std::int64_t>::min(), -1);
  }
  return {x};
}

// Axis i of the tensor becomes axis broadcast_dimensions[i] of the result.
Outputs broadcast_in_dim(const Call& call, Emit& onnx) {
  const std::vector<std::int64_t> places = call.integers("broadcast_dimensions");
  std::vector<std::int64_t> made;
  for (std::int64_t axis = 0; axis < call.result_rank(); ++axis) {
    if (std::ranges::find(places, axis) == places.end()) made.push_back(axis);
  }
  return {onnx.expand(onnx.unsqueeze(call.tensor("a"), made), call.result_shape())};
}

Outputs convert_element_type(const Call& call, Emit& onnx) {
  return {cast_to_result(onnx, call, call.tensor("a"))};
}

Outputs where(const Call& call, Emit& onnx) {
  return {onnx.where(call.tensor("pred"), call.tensor("a"), call.tensor("b"))};
}

Outputs fill(const Call& call, Emit& onnx) {
  const Value value = scalar_value(onnx, call.scalar("value"), call.result_dtype());
  return {onnx.full(call.result_shape(), value)};
}

Outputs iota(const Call& call, Emit& onnx) {
  const Value steps = onnx.mul(onnx.range(call.size("length")), onnx.size(call.size("step")));
  return {cast_to_result(onnx, call, onnx.add(steps, onnx.size(call.size("start"))))};
}

constexpr Row kRows[] = {
    {"prims::abs(Tensor self) -> Tensor", as<"aten::abs">},
    {"prims::acos(Tensor self) -> Tensor", as<"aten::acos">},
    {"prims::acosh(Tensor self) -> Tensor", as<"aten::acosh">},
    {"prims::add(Tensor self, Tensor other) -> Tensor", add},
    {"prims::amax(Tensor inp, int[]? dims, *, ScalarType? output_dtype=None) -> Tensor",
     as<"aten::amax">},
    {"prims::amin(Tensor inp, int[]? dims, *, ScalarType? output_dtype=None) -> Tensor",
     as<"aten::amin">},
    {"prims::asin(Tensor self) -> Tensor", as<"aten::asin">},
    {"prims::asinh(Tensor self) -> Tensor", as<"aten::asinh">},
    {"prims::atan(Tensor self) -> Tensor", as<"aten::atan">},
    {"prims::atan2(Tensor self, Tensor other) -> Tensor", as<"aten::atan2">},
    {"prims::atanh(Tensor self) -> Tensor", as<"aten::atanh">},
    {"prims::bessel_i0(Tensor self) -> Tensor", as<"aten::i0">},
    {"prims::bessel_i0e(Tensor self) -> Tensor", as<"aten::special_i0e">},
    {"prims::bessel_i1(Tensor self) -> Tensor", as<"aten::special_i1">},
    {"prims::bessel_i1e(Tensor self) -> Tensor", as<"aten::special_i1e">},
    {"prims::bessel_j0(Tensor self) -> Tensor", as<"aten::special_bessel_j0">},
    {"prims::bessel_j1(Tensor self) -> Tensor", as<"aten::special_bessel_j1">},
    {"prims::bitwise_and(Tensor self, Tensor other) -> Tensor", as<"aten::bitwise_and.Tensor">},
    {"prims::bitwise_not(Tensor self) -> Tensor", as<"aten::bitwise_not">},
    {"prims::bitwise_or(Tensor self, Tensor other) -> Tensor", as<"aten::bitwise_or.Tensor">},
    {"prims::bitwise_xor(Tensor self, Tensor other) -> Tensor", as<"aten::bitwise_xor.Tensor">},
    {"prims::broadcast_in_dim(Tensor(a) a, SymInt[] shape, int[] broadcast_dimensions) -> "
     "Tensor(a)",
     broadcast_in_dim},
    {"prims::cat(Tensor[] tensors, int dim) -> Tensor", as<"aten::cat">},
    {"prims::ceil(Tensor self) -> Tensor", as<"aten::ceil">},
    {"prims::clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", as<"aten::clone">},
    {"prims::collapse(Tensor a, int start, int end) -> Tensor", reshape},
    {"prims::collapse_view(Tensor(a) a, int start, int end) -> Tensor(a)", reshape},
    {"prims::convert_element_type(Tensor a, ScalarType dtype) -> Tensor", convert_element_type},
    {"prims::copy_strided(Tensor a, SymInt[] stride) -> Tensor", unchanged},
    {"prims::cos(Tensor self) -> Tensor", as<"aten::cos">},
    {"prims::cosh(Tensor self) -> Tensor", as<"aten::cosh">},
    {"prims::device_put(Tensor a, Device device, bool non_blocking=False) -> Tensor", unchanged},
    {"prims::digamma(Tensor self) -> Tensor", as<"aten::digamma">},
    {"prims::div(Tensor self, Tensor other) -> Tensor", as<"aten::div.Tensor">},
    {"prims::empty(SymInt[] shape, *, ScalarType dtype, Device device, bool requires_grad) -> "
     "Tensor",
     as<"aten::empty.memory_format">},
    {"prims::empty_permuted(SymInt[] shape, int[] physical_layout, *, ScalarType dtype, Device "
     "device, bool requires_grad) -> Tensor",
     as<"aten::empty_permuted">},
    {"prims::empty_strided(SymInt[] shape, SymInt[] strides, *, ScalarType dtype, Device device, "
     "bool requires_grad) -> Tensor",
     as<"aten::empty_strided">},
    {"prims::eq(Tensor self, Tensor other) -> Tensor", as<"aten::eq.Tensor">},
    {"prims::erf(Tensor self) -> Tensor", as<"aten::erf">},
    {"prims::erf_inv(Tensor self) -> Tensor", as<"aten::erfinv">},
    {"prims::erfc(Tensor self) -> Tensor", as<"aten::erfc">},
    {"prims::erfcx(Tensor self) -> Tensor", as<"aten::special_erfcx">},
    {"prims::exp(Tensor self) -> Tensor", as<"aten::exp">},
    {"prims::exp2(Tensor self) -> Tensor", as<"aten::exp2">},
    {"prims::expm1(Tensor self) -> Tensor", as<"aten::expm1">},
    {"prims::fill(Tensor self, Scalar value) -> Tensor", fill},
    {"prims::floor(Tensor self) -> Tensor", as<"aten::floor">},
    {"prims::fmax(Tensor self, Tensor other) -> Tensor", as<"aten::fmax">},
    {"prims::fmin(Tensor self, Tensor other) -> Tensor", as<"aten::fmin">},
    {"prims::fmod(Tensor self, Tensor other) -> Tensor", as<"aten::fmod.Tensor">},
    {"prims::frexp(Tensor self) -> (Tensor mantissa, Tensor exponent)", as<"aten::frexp.Tensor">},
    {"prims::full(SymInt[] shape, Scalar fill_value, *, ScalarType dtype, Device device, bool "
     "requires_grad) -> Tensor",
     as<"aten::full">},
    {"prims::full_like(Tensor a, Scalar fill_value, *, ScalarType dtype, Device device, bool "
     "requires_grad) -> Tensor",
     as<"aten::full">},
    {"prims::gcd(Tensor self, Tensor other) -> Tensor", as<"aten::gcd">},
    {"prims::ge(Tensor self, Tensor other) -> Tensor", as<"aten::ge.Tensor">},
    {"prims::gt(Tensor self, Tensor other) -> Tensor", as<"aten::gt.Tensor">},
    {"prims::hypot(Tensor self, Tensor other) -> Tensor", as<"aten::hypot">},
    {"prims::igamma(Tensor self, Tensor other) -> Tensor", as<"aten::igamma">},
    {"prims::igammac(Tensor self, Tensor other) -> Tensor", as<"aten::igammac">},
    {"prims::iota(SymInt length, *, SymInt start, SymInt step, ScalarType dtype, Device device, "
     "bool requires_grad) -> Tensor",
     iota},
    {"prims::isfinite(Tensor self) -> Tensor", as<"aten::isfinite">},
    {"prims::le(Tensor self, Tensor other) -> Tensor", as<"aten::le.Tensor">},
    {"prims::lgamma(Tensor self) -> Tensor", as<"aten::lgamma">},
    {"prims::log(Tensor self) -> Tensor", as<"aten::log">},
    {"prims::log10(Tensor self) -> Tensor", as<"aten::log10">},
    {"prims::log1p(Tensor self) -> Tensor", as<"aten::log1p">},
    {"prims::log2(Tensor self) -> Tensor", as<"aten::log2">},
    {"prims::lt(Tensor self, Tensor other) -> Tensor", as<"aten::lt.Tensor">},
    {"prims::maximum(Tensor self, Tensor other) -> Tensor", as<"aten::maximum">},
    {"prims::minimum(Tensor self, Tensor other) -> Tensor", as<"aten::minimum">},
    {"prims::mul(Tensor self, Tensor other) -> Tensor", as<"aten::mul.Tensor">},
    {"prims::ndtri(Tensor self) -> Tensor", as<"aten::special_ndtri">},
    {"prims::ne(Tensor self, Tensor other) -> Tensor", as<"aten::ne.Tensor">},
    {"prims::neg(Tensor self) -> Tensor", as<"aten::neg">},
    {"prims::nextafter(Tensor self, Tensor other) -> Tensor", as<"aten::nextafter">},
    {"prims::prod(Tensor inp, int[]? dims, *, ScalarType? output_dtype=None) -> Tensor",
     as<"aten::prod">},
    {"prims::reciprocal(Tensor self) -> Tensor", as<"aten::reciprocal">},
    {"prims::remainder(Tensor self, Tensor other) -> Tensor", as<"aten::remainder.Tensor">},
    {"prims::reshape(Tensor a, SymInt[] shape) -> Tensor", reshape},
    {"prims::rev(Tensor a, int[] dims) -> Tensor", rev},
    {"prims::round(Tensor self) -> Tensor", as<"aten::round">},
    {"prims::rsqrt(Tensor self) -> Tensor", as<"aten::rsqrt">},
    {"prims::scalar_tensor(Scalar s, *, ScalarType? dtype=None, Device? device=None) -> Tensor",
     as<"aten::scalar_tensor">},
    {"prims::shift_left(Tensor self, Tensor other) -> Tensor",
     as<"aten::bitwise_left_shift.Tensor">},
    {"prims::shift_right_arithmetic(Tensor self, Tensor other) -> Tensor",
     as<"aten::bitwise_right_shift.Tensor">},
    {"prims::sign(Tensor self) -> Tensor", as<"aten::sign">},
    {"prims::sin(Tensor self) -> Tensor", as<"aten::sin">},
    {"prims::sinh(Tensor self) -> Tensor", as<"aten::sinh">},
    {"prims::split_dim(Tensor(a) a, int dim, SymInt outer_length) -> Tensor(a)", reshape},
    {"prims::sqrt(Tensor self) -> Tensor", as<"aten::sqrt">},
    {"prims::squeeze(Tensor(a) a, int[] dimensions) -> Tensor(a)", reshape},
    {"prims::sub(Tensor self, Tensor other) -> Tensor", sub},
    {"prims::sum(Tensor inp, int[]? dims, *, ScalarType? output_dtype=None) -> Tensor",
     as<"aten::sum">},
    {"prims::tan(Tensor self) -> Tensor", as<"aten::tan">},
    {"prims::tanh(Tensor self) -> Tensor", as<"aten::tanh">},
    {"prims::transpose(Tensor(a) a, int[] permutation) -> Tensor(a)", transpose},
    {"prims::trunc(Tensor self) -> Tensor", as<"aten::trunc">},
    {"prims::var(Tensor inp, int[]? dims, float? correction=1, *, ScalarType? output_dtype=None) "
     "-> Tensor",
     as<"aten::var.correction">},
    {"prims::view_of(Tensor(a) a) -> Tensor(a)", unchanged},
    {"prims::where(Tensor pred, Tensor a, Tensor b) -> Tensor", where},
    {"prims::zeta(Tensor self, Tensor other) -> Tensor", as<"aten::special_zeta">},
};

}  // namespace

std::span<const Row> prims_rows() { return kRows; }

}  // namespace sardonyx::aten
