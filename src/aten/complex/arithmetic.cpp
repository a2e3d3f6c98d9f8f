// Arithmetic and comparisons of complex tensors.
#include "aten/complex/math.h"
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

// In parts of the result's type.
Parts operand(const Call& call, Emit& onnx, std::string_view name) {
  return parts_of_operand(call, onnx, name, base::real_of(call.result_dtype()));
}

Outputs complete(Emit& onnx, const Parts& x) {
  return {joined(onnx, ComplexMath(onnx).complete(x))};
}

Outputs mul(const Call& call, Emit& onnx) {
  const Parts a = operand(call, onnx, "self"), b = operand(call, onnx, "other");
  return complete(onnx, ComplexMath(onnx).mul(a, b));
}

Outputs div(const Call& call, Emit& onnx) {
  const Parts a = operand(call, onnx, "self"), b = operand(call, onnx, "other");
  return complete(onnx, ComplexMath(onnx).div(a, b));
}

Outputs div_mode(const Call& call, Emit& onnx) {
  if (call.has("rounding_mode")) call.refuse("a rounded division of complex tensors");
  return div(call, onnx);
}

// a + alpha * b, which negates with an alpha of -1.
Parts sum(const Call& call, Emit& onnx, std::string_view first, std::string_view second,
          double sign) {
  const ComplexMath math(onnx);
  const Parts a = operand(call, onnx, first), b = operand(call, onnx, second);
  const Scalar alpha = call.scalar("alpha");
  if (alpha.is(1) && !alpha.is_complex()) return sign > 0 ? math.add(a, b) : math.sub(a, b);
  return math.add(a, math.mul(math.scale(operand(call, onnx, "alpha"), sign), b));
}

Outputs add(const Call& call, Emit& onnx) {
  return complete(onnx, sum(call, onnx, "self", "other", 1));
}
Outputs sub(const Call& call, Emit& onnx) {
  return complete(onnx, sum(call, onnx, "self", "other", -1));
}
Outputs rsub(const Call& call, Emit& onnx) {
  return complete(onnx, sum(call, onnx, "other", "self", -1));
}

Outputs neg(const Call& call, Emit& onnx) {
  return complete(onnx, ComplexMath(onnx).neg(operand(call, onnx, "self")));
}

Outputs reciprocal(const Call& call, Emit& onnx) {
  return complete(onnx, ComplexMath(onnx).reciprocal(operand(call, onnx, "self")));
}

Outputs square(const Call& call, Emit& onnx) {
  return complete(onnx, ComplexMath(onnx).square(operand(call, onnx, "self")));
}

Outputs addcmul(const Call& call, Emit& onnx) {
  const ComplexMath math(onnx);
  const Parts product = math.mul(operand(call, onnx, "tensor1"), operand(call, onnx, "tensor2"));
  return complete(
      onnx, math.add(operand(call, onnx, "self"), math.mul(operand(call, onnx, "value"), product)));
}

Outputs addcdiv(const Call& call, Emit& onnx) {
  const ComplexMath math(onnx);
  const Parts quotient = math.div(operand(call, onnx, "tensor1"), operand(call, onnx, "tensor2"));
  return complete(onnx, math.add(operand(call, onnx, "self"),
                                 math.mul(operand(call, onnx, "value"), quotient)));
}

Outputs lerp(const Call& call, Emit& onnx) {
  const ComplexMath math(onnx);
  const Parts start = operand(call, onnx, "self"), end = operand(call, onnx, "end");
  return complete(onnx,
                  math.add(start, math.mul(operand(call, onnx, "weight"), math.sub(end, start))));
}

// self * 2^other
Outputs ldexp(const Call& call, Emit& onnx) {
  const ComplexMath math(onnx);
  const Parts two = {onnx.scalar(2, base::real_of(call.result_dtype())), {}};
  return complete(onnx, math.mul(operand(call, onnx, "self"),
                                 math.pow(two, math.complete(operand(call, onnx, "other")))));
}

// --- comparisons

DType compared_type(const Call& call) {
  ResultType type;
  for (const std::string_view name : {"self", "other"}) {
    if (call.argument(name).get<program::Value*>()) {
      type.add(call.tensor(name));
    } else {
      type.add(call.scalar(name));
    }
  }
  return base::real_of(type.dtype());
}

Outputs eq(const Call& call, Emit& onnx) {
  const DType dtype = compared_type(call);
  return {ComplexMath(onnx).equal(parts_of_operand(call, onnx, "self", dtype),
                                  parts_of_operand(call, onnx, "other", dtype))};
}

Outputs ne(const Call& call, Emit& onnx) { return {onnx.not_(eq(call, onnx).front())}; }

// |a - b| <= atol + rtol |b|, or equal, or NaN both.
Outputs isclose(const Call& call, Emit& onnx) {
  const ComplexMath math(onnx);
  const DType dtype = compared_type(call);
  const Parts a = parts_of_operand(call, onnx, "self", dtype);
  const Parts b = parts_of_operand(call, onnx, "other", dtype);
  const Value distance = math.abs(math.sub(a, b)), size = math.abs(b);
  const Value allowed = onnx.add(onnx.scalar(call.number("atol"), dtype),
                                 onnx.mul(onnx.scalar(call.number("rtol"), dtype), size));
  const Value finite = onnx.not_(onnx.or_(onnx.is_inf(distance), onnx.is_nan(distance)));
  Value close =
      onnx.or_(math.equal(a, b), onnx.and_(finite, onnx.less_or_equal(distance, allowed)));
  if (call.flag("equal_nan")) {
    const auto is_nan = [&](const Parts& x) { return onnx.is_nan(math.squared_abs(x)); };
    close = onnx.or_(close, onnx.and_(is_nan(a), is_nan(b)));
  }
  return {close};
}

Value all_of(Emit& onnx, Value truth) {
  const Value flat = onnx.flatten_to_1d(onnx.cast(truth, DType::kInt32));
  const std::int64_t axis = 0;
  return onnx.cast(onnx.reduce("ReduceMin", flat, {&axis, 1}, false), DType::kBool);
}

Outputs allclose(const Call& call, Emit& onnx) {
  return {all_of(onnx, isclose(call, onnx).front())};
}

Outputs equal(const Call& call, Emit& onnx) { return {all_of(onnx, eq(call, onnx).front())}; }

constexpr Row kRows[] = {
    {"aten::add.Scalar", add},
    {"aten::add.Tensor", add},
    {"aten::addcdiv", addcdiv},
    {"aten::addcmul", addcmul},
    {"aten::allclose(Tensor self, Tensor other, float rtol=1.0000000000000001e-05, float "
     "atol=1e-08, bool equal_nan=False) -> bool",
     allclose},
    {"aten::div.Scalar", div},
    {"aten::div.Scalar_mode", div_mode},
    {"aten::div.Tensor", div},
    {"aten::div.Tensor_mode", div_mode},
    {"aten::divide.Scalar", div},
    {"aten::divide.Scalar_mode", div_mode},
    {"aten::divide.Tensor", div},
    {"aten::divide.Tensor_mode", div_mode},
    {"aten::eq.Scalar", eq},
    {"aten::eq.Tensor", eq},
    {"aten::equal(Tensor self, Tensor other) -> bool", equal},
    {"aten::isclose", isclose},
    {"aten::ldexp.Tensor", ldexp},
    {"aten::lerp.Scalar", lerp},
    {"aten::lerp.Tensor", lerp},
    {"aten::mul.Scalar", mul},
    {"aten::mul.Tensor", mul},
    {"aten::multiply.Scalar", mul},
    {"aten::multiply.Tensor", mul},
    {"aten::ne.Scalar", ne},
    {"aten::ne.Tensor", ne},
    {"aten::neg", neg},
    {"aten::negative", neg},
    {"aten::not_equal.Scalar", ne},
    {"aten::not_equal.Tensor", ne},
    {"aten::reciprocal", reciprocal},
    {"aten::rsub.Scalar", rsub},
    {"aten::rsub.Tensor", rsub},
    {"aten::square", square},
    {"aten::sub.Scalar", sub},
    {"aten::sub.Tensor", sub},
    {"aten::subtract.Scalar", sub},
    {"aten::subtract.Tensor", sub},
    {"aten::true_divide.Scalar", div},
    {"aten::true_divide.Tensor", div},
};

}  // namespace

std::span<const Row> complex_arithmetic_rows() { return kRows; }

}  // namespace sardonyx::aten
