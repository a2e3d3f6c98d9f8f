// Evenly spaced numbers, linear and logarithmic: linspace, logspace, range.
#include "aten/elementwise/operands.h"
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

// Counts from both ends so that the last number is `end` exactly: below the middle start + i *
// step, above it end - (n - 1 - i) * step.
Value evenly_spaced(const Call& call, Emit& onnx, DType dtype) {
  const Expr steps = call.size("steps");
  // The ends take the result's type first: of integers they are cut to whole numbers.
  const DType result = base::real_of(call.result_dtype());
  const auto end_in = [&](std::string_view name) {
    return base::is_integer(result) ? onnx.cast(operand(call, onnx, name, result), dtype)
                                    : operand(call, onnx, name, dtype);
  };
  const Value start = end_in("start"), end = end_in("end");
  if (steps.is_constant() && steps.value() <= 1) return onnx.expand(start, call.result_shape());
  const Value index = onnx.range(steps);
  // A single number is `start`, which the first half has.
  const Value gaps = onnx.real_size(symbolic::max(steps - 1, 1), dtype);
  const Value half = onnx.size(symbolic::max(symbolic::floor_div(steps, 2), 1));
  const Value step = onnx.div(onnx.sub(end, start), gaps);
  const Value place = onnx.cast(index, dtype);
  const Value forward = onnx.add(start, onnx.mul(place, step));
  const Value backward = onnx.sub(end, onnx.mul(onnx.sub(gaps, place), step));
  return onnx.where(onnx.less(index, half), forward, backward);
}

// Integers are counted in float32 by PyTorch's step and truncated; double errs less at whole
// numbers.
DType counting_type(const Call& call) {
  return base::is_integer(call.result_dtype()) ? DType::kFloat64
                                               : computing_type(base::real_of(call.result_dtype()));
}

Outputs linspace(const Call& call, Emit& onnx) {
  return {cast_to_result(onnx, call, evenly_spaced(call, onnx, counting_type(call)))};
}

// Of integers the exponents are counted in float32 and the powers taken in double.
Outputs logspace(const Call& call, Emit& onnx) {
  const bool integers = base::is_integer(call.result_dtype());
  const DType dtype = counting_type(call) == DType::kFloat32 ? DType::kFloat32 : DType::kFloat64;
  const Value exponent =
      onnx.cast(evenly_spaced(call, onnx, integers ? DType::kFloat32 : dtype), dtype);
  return {cast_to_result(onnx, call, onnx.pow(onnx.scalar(call.number("base"), dtype), exponent))};
}

// start + i * step, the end included.
Outputs range(const Call& call, Emit& onnx) {
  const Value index = onnx.cast(onnx.range(call.result_shape().front()), DType::kFloat64);
  const auto number = [&](std::string_view name) {
    return scalar_value(onnx, call.scalar(name), DType::kFloat64);
  };
  const bool stepped = call.captured().schema->find("step").has_value();
  const Value moved = stepped ? onnx.mul(index, number("step")) : index;
  return {cast_to_result(onnx, call, onnx.add(moved, number("start")))};
}

constexpr Row kRows[] = {
    {"aten::linspace(Scalar start, Scalar end, int steps, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     linspace},
    {"aten::linspace.Scalar_Tensor(Scalar start, Tensor end, int steps, *, ScalarType? dtype=None, "
     "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     linspace},
    {"aten::linspace.Tensor_Scalar(Tensor start, Scalar end, int steps, *, ScalarType? dtype=None, "
     "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     linspace},
    {"aten::linspace.Tensor_Tensor(Tensor start, Tensor end, int steps, *, ScalarType? dtype=None, "
     "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     linspace},
    {"aten::logspace(Scalar start, Scalar end, int steps, float base=10., *, ScalarType? "
     "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     logspace},
    {"aten::logspace.Scalar_Tensor(Scalar start, Tensor end, int steps, float base=10., *, "
     "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
     "Tensor",
     logspace},
    {"aten::logspace.Tensor_Scalar(Tensor start, Scalar end, int steps, float base=10., *, "
     "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
     "Tensor",
     logspace},
    {"aten::logspace.Tensor_Tensor(Tensor start, Tensor end, int steps, float base=10., *, "
     "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
     "Tensor",
     logspace},
    {"aten::range(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None) -> Tensor",
     range},
    {"aten::range.step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     range},
};

}  // namespace

std::span<const Row> spacing_rows() { return kRows; }

}  // namespace sardonyx::aten
